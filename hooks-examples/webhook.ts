/**
 * `/webhook` opens a port on this machine where other programs can send prompts; `/webhook stop` closes it.
 *
 * The port opens only when you run the command, and only on the loopback interface. Requests need a token, which is new
 * each time: web pages in a local browser can reach the port too, but do not know the token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

const MAX_BYTES = 64 * 1024;
/** Limit for receiving a complete request. */
const REQUEST_TIMEOUT_MS = 10_000;

export default function webhook(pi: HookAPI): void {
	let server: Server | null = null;

	const close = () => {
		server?.close();
		server?.closeAllConnections();
		server = null;
	};

	pi.command("webhook", {
		description: "Let programs on this machine send prompts",
		argumentHint: "[port | stop]",
		complete: (prefix) => (server && "stop".startsWith(prefix.trim()) ? [{ value: "stop" }] : []),
		async handler(ctx) {
			const [argument = "0"] = ctx.args;
			if (argument === "stop") {
				const status = server ? "The webhook is closed" : "The webhook is not open";
				close();
				return { status };
			}
			const port = Number(argument);
			if (!Number.isInteger(port) || port < 0 || port > 65_535) return { status: `${argument} is not a port` };
			close();
			const token = randomBytes(24).toString("base64url");
			const opened = createWebhook(token, (text) => pi.send(text));
			const failure = await listen(opened, port);
			if (failure) return { status: `Port ${port} cannot be opened: ${failure.message}` };
			server = opened;
			const address = opened.address();
			const origin = `http://127.0.0.1:${typeof address === "object" && address ? address.port : port}`;
			ctx.ui.notify(`curl -H "Authorization: Bearer ${token}" -d "the build failed" ${origin}`);
			return { status: `The webhook listens at ${origin}; /webhook stop closes it` };
		},
	});

	pi.on("session", (event) => {
		if (event.reason === "shutdown") close();
	});
}

function createWebhook(token: string, onText: (text: string) => void): Server {
	const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, async (request, response) => {
		const answer = (status: number, text: string) => {
			// The rest of a rejected body is not read.
			response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(`${text}\n`);
		};
		try {
			if (!isAuthorized(request, token)) return answer(401, "send the header Authorization: Bearer <token>");
			if (request.method !== "POST") return answer(405, "send a POST request");
			const body = await readBody(request);
			if (body === null) return answer(413, `send at most ${MAX_BYTES} bytes`);
			const text = body.toString("utf8").trim();
			if (text === "") return answer(400, "send the prompt as the body");
			onText(text);
			answer(202, "sent");
		} catch {
			// The client disconnected, or the hook was unloaded.
			if (!response.headersSent) answer(503, "not sent");
		}
	});
	// The open port does not keep pi running.
	return server.unref();
}

function isAuthorized(request: IncomingMessage, token: string): boolean {
	const given = Buffer.from(request.headers.authorization ?? "");
	const wanted = Buffer.from(`Bearer ${token}`);
	return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** @returns null if the body is too long */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
	const chunks: Buffer[] = [];
	let bytes = 0;
	for await (const chunk of request) {
		const data = Buffer.from(chunk);
		bytes += data.length;
		if (bytes > MAX_BYTES) return null;
		chunks.push(data);
	}
	return Buffer.concat(chunks);
}

/** @returns the error if the port cannot be opened */
function listen(server: Server, port: number): Promise<Error | null> {
	return new Promise((resolve) => {
		server.on("error", resolve);
		server.listen(port, "127.0.0.1", () => resolve(null));
	});
}
