import { type MessagePort, parentPort } from "node:worker_threads";
import { type ScaleRequest, scaleImage } from "./scale.js";

/** Body of the thread that scales one image. An error ends the thread and reaches its owner as the `error` event. */
function serve(port: MessagePort): void {
	port.once("message", async (request: ScaleRequest) => port.postMessage(await scaleImage(request)));
}

if (parentPort) serve(parentPort);
