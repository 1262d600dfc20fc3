import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "./json.js";
import type { Frame, ReplyFault, ReplyStep } from "./provider-step.js";
import { anthropicErrorBody, anthropicErrorFrame, anthropicFrames } from "./wire-anthropic.js";
import { googleErrorBody, googleErrorFrame, googleFrames } from "./wire-google.js";
import { openaiErrorBody, openaiErrorFrame, openaiFrames } from "./wire-openai.js";
import { responsesErrorBody, responsesErrorFrame, responsesFrames } from "./wire-responses.js";

const WIRES = {
	"openai-completions": {
		frames: openaiFrames,
		errorFrame: openaiErrorFrame,
		errorBody: openaiErrorBody,
		id: "chatcmpl-",
	},
	"anthropic-messages": {
		frames: anthropicFrames,
		errorFrame: anthropicErrorFrame,
		errorBody: anthropicErrorBody,
		id: "msg_",
	},
	"openai-responses": {
		frames: responsesFrames,
		errorFrame: responsesErrorFrame,
		errorBody: responsesErrorBody,
		id: "resp_",
	},
	"google-generative-ai": {
		frames: googleFrames,
		errorFrame: googleErrorFrame,
		errorBody: googleErrorBody,
		id: "google-",
	},
} as const;

/** Sends a step as the response to a request. Resolves when nothing more will be written. */
export async function sendReply(
	response: ServerResponse,
	api: keyof typeof WIRES,
	step: ReplyStep,
	body: JsonObject,
	newId: () => string,
): Promise<void> {
	const wire = WIRES[api];
	const fault = step.fault;
	if (fault?.kind === "http") {
		response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
		response.end(wire.errorBody(fault.status, fault.message ?? `scripted failure ${fault.status}`));
		return;
	}
	if (fault && "at" in fault && fault.at === "headers") {
		await strike(response, fault, wire.errorFrame);
		return;
	}
	response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
	response.flushHeaders();
	let pending = fault;
	let deltas = 0;
	let held = false;
	for (const frame of wire.frames(step, body, `${wire.id}${newId()}`, newId)) {
		if (response.destroyed) return;
		if (pending && (frame.closing || (frame.delta && deltas >= Number(pending.at)))) {
			if (await strike(response, pending, wire.errorFrame)) return;
			pending = undefined;
		}
		if (frame.closing && !held) {
			held = true;
			await step.hold;
		}
		if (frame.delta) {
			deltas += 1;
			if (step.delayMs) await delay(step.delayMs);
		}
		await write(response, frame, step.writeBytes);
	}
	response.end();
}

/** @returns true when the response is over */
async function strike(
	response: ServerResponse,
	fault: Exclude<ReplyFault, { kind: "http" }>,
	errorFrame: (type: string, message: string) => string,
): Promise<boolean> {
	switch (fault.kind) {
		case "cut":
			await flushed(response);
			response.destroy();
			return true;
		case "end":
			response.end();
			return true;
		case "error":
			response.end(errorFrame(fault.type ?? "overloaded_error", fault.message ?? "Overloaded"));
			return true;
		case "bad_json":
			response.write('event: content_block_delta\ndata: {"type": nonsense\n\n');
			return false;
		case "stall": {
			const timer = fault.keepAliveMs && setInterval(() => response.write(": keep-alive\n\n"), fault.keepAliveMs);
			await new Promise<void>((resolve) => response.once("close", resolve));
			if (timer) clearInterval(timer);
			return true;
		}
	}
}

/** A reset discards unsent data, so earlier data must be sent first. */
async function flushed(response: ServerResponse): Promise<void> {
	if (response.headersSent) await new Promise<void>((resolve) => response.write(": \n\n", () => resolve()));
}

async function write(response: ServerResponse, frame: Frame, writeBytes: number | undefined): Promise<void> {
	if (writeBytes === undefined) return push(response, frame.data);
	const bytes = Buffer.from(frame.data, "utf8");
	for (let start = 0; start < bytes.length; start += writeBytes) {
		// Waiting for each write keeps the chunks separate in the socket.
		await new Promise<void>((resolve) => {
			response.write(bytes.subarray(start, start + writeBytes), () => resolve());
		});
	}
}

async function push(response: ServerResponse, data: string): Promise<void> {
	if (response.write(data) || response.destroyed) return;
	await new Promise<void>((resolve) => {
		const settle = () => {
			response.off("drain", settle).off("close", settle);
			resolve();
		};
		response.on("drain", settle).on("close", settle);
	});
}
