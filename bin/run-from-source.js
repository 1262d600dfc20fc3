// Preloaded with --import: Node can then run the sources, with the same replaced library modules as in the build.
import { register } from "node:module";

register("./source-hooks.js", import.meta.url);
