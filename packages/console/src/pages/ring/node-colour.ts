import styles from './node-colour.module.css';

/** The number of colours in the stylesheet. */
const COLOURS = 8;

/** The class that gives a node its colour. More nodes than colours begin again with the first colour. */
export const nodeColour = (index: number) => styles[`colour${index % COLOURS}`];
