// Imports with `{ type: "file" }` evaluate to the path of the file.
declare module "*.svg" {
  const path: string;
  export default path;
}
