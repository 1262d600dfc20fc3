/**
 * /webhook opens a port on this machine through which other programs can send prompts; /webhook stop closes it.
 *
 * Nothing listens before the command is run. Only programs on this machine reach the port, and only those that know the
 * token, which is new each time: web pages that a browser opens here can reach the port as well, but not the token.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";

const MAX_BYTES = 64 * 1024;
/** A request must be there in full after so many ms. */
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
			// What is left of a refused body is not read.
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
			// The client went away, or the hook was unloaded meanwhile.
			if (!response.headersSent) answer(503, "not sent");
		}
	});
	// An open port does not keep the program alive.
	return server.unref();
}

function isAuthorized(request: IncomingMessage, token: string): boolean {
	const given = Buffer.from(request.headers.authorization ?? "");
	const wanted = Buffer.from(`Bearer ${token}`);
	return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** @returns null when it is too long */
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

/** @returns what kept it from listening */
function listen(server: Server, port: number): Promise<Error | null> {
	return new Promise((resolve) => {
		server.on("error", resolve);
		server.listen(port, "127.0.0.1", () => resolve(null));
	});
}
