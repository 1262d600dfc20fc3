import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

/** A way in which a server fails. */
export type HttpFault =
	/** Answers with this status. */
	| { readonly status: number }
	/** Answers correctly, but late. */
	| { readonly delayMs: number }
	/** Never answers. */
	| "silent"
	/** Answers with the first half of the content, and closes the connection. */
	| "cut"
	/** Answers with text that is neither JSON nor an archive nor git. */
	| "garbage";

/** Sends an answer, or fails in the given way. */
export async function sendOrFail(
	response: ServerResponse,
	fault: HttpFault | undefined,
	type: string,
	body: Buffer,
): Promise<void> {
	if (fault === "silent") return;
	if (fault === "cut") {
		response.writeHead(200, { "content-type": type, "content-length": body.length });
		response.write(body.subarray(0, body.length >> 1), () => response.destroy());
		return;
	}
	if (fault === "garbage") return void response.writeHead(200, { "content-type": type }).end("<html>Welcome</html>");
	if (fault && "status" in fault) return void response.writeHead(fault.status).end();
	if (fault) await delay(fault.delayMs, undefined, { ref: false });
	response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body);
}

/** A request as tests compare it: `GET /name`. */
export function describeRequest({ method, url = "/" }: IncomingMessage): string {
	return `${method} ${decodeURIComponent(url)}`;
}
