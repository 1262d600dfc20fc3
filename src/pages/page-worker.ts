import { parentPort } from "node:worker_threads";
import { convertPage, type PageRequest } from "./convert-page.js";

// Body of the thread that converts one page. An error ends the thread and reaches its owner as the `error` event.
parentPort?.once("message", (request: PageRequest) => parentPort?.postMessage(convertPage(request)));
