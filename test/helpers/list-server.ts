import { createServer, type IncomingHttpHeaders } from "node:http";
import { listen } from "./proxy.js";

/** A server of lists of models. */
export interface ListServer {
	/** Such as `http://127.0.0.1:4711`. */
	origin: string;
	/** Every request so far: path with query, and headers. */
	requests: { path: string; headers: IncomingHttpHeaders }[];
}

/** What the server answers to a path with query: JSON, the bytes of a body, a status, or nothing at all. */
export type ListAnswer = object | string | Buffer | number | "silence";

/** Answers requests for paths; others are a 404. */
export async function startListServer(answers: Readonly<Record<string, ListAnswer>>): Promise<ListServer> {
	const requests: ListServer["requests"] = [];
	const server = createServer(({ url: path = "", headers }, response) => {
		requests.push({ path, headers });
		const answer = answers[path] ?? 404;
		if (answer === "silence") return;
		if (typeof answer === "number") response.writeHead(answer, { location: "/elsewhere" }).end("{}");
		else if (typeof answer === "string" || Buffer.isBuffer(answer)) response.end(answer);
		else response.end(JSON.stringify(answer));
	});
	return { origin: `http://127.0.0.1:${await listen(server)}`, requests };
}
