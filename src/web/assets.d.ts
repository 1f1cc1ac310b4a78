// What `with { type: "file" }` gives for files that TypeScript does not know: their path.
declare module "*.svg" {
  const path: string;
  export default path;
}
declare module "*.css" {
  const path: string;
  export default path;
}
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  export default path;
}
