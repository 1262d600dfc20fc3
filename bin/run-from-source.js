// Preloaded with --import: lets Node run the sources, with the same replaced modules of libraries as in the build.
import { register } from "node:module";

register("./source-hooks.js", import.meta.url);
