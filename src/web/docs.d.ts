/** The path of docs.js, imported with `{ type: "file" }`. */
declare const path: string;
export default path;
