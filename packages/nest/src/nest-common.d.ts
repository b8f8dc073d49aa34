// The one function of Nest that this package calls. Types of Nest itself would bring its packages into every build of the project.
// The test of the package compiles against Nest's own types.
declare module '@nestjs/common' {
  export function Inject(token: unknown): PropertyDecorator & ParameterDecorator;
}
