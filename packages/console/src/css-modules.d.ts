/** A stylesheet of one component: the class names of the page, by the names in the file. */
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}
