import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { objects } from "../helpers/json.js";
import type { ProviderRequest } from "../helpers/loopback-provider.js";
import {
	CALLS,
	callsOf,
	FAMILY_NAMES,
	type FamilyName,
	imagesIn,
	PAIRS,
	SIGNATURES,
	saidIn,
	startFamilies,
	TODAY,
	thoughtIn,
} from "./families.js";

/** Sessions of one run each, which pi wrote with pi-ai 0.73.1. Only the records of contexts are removed. */
const recorded = (family: FamilyName) =>
	fileURLToPath(new URL(`../fixtures/sessions-0.73.1/${family}.jsonl`, import.meta.url));

/** The models that wrote them. */
const WRITERS: Record<FamilyName, string> = {
	anthropic: "anthropic/claude-opus-4-6",
	openai: "openai/gpt-5.5",
	google: "google/gemini-3.1-pro-preview",
	openrouter: "openrouter/openai/gpt-5.4",
};

/** The signed blocks of a request as they were sent, by family. */
const SIGNED: Record<FamilyName, (body: ProviderRequest["body"]) => unknown[]> = {
	anthropic: (body) =>
		objects(body.messages).flatMap(({ content }) => objects(content).filter(({ type }) => type === "thinking")),
	openai: (body) => objects(body.input).filter(({ type }) => type === "reasoning"),
	google: (body) =>
		objects(body.contents).flatMap(({ parts }) =>
			objects(parts).flatMap(({ thoughtSignature }) => (thoughtSignature === undefined ? [] : [thoughtSignature])),
		),
	openrouter: (body) =>
		objects(body.messages).flatMap(({ reasoning_content: text }) => (text === undefined ? [] : [text])),
};

const item = (id: string, text: string, encrypted_content: string) => ({
	type: "reasoning",
	summary: [{ type: "summary_text", text }],
	id,
	encrypted_content,
});

const EXPECTED: Record<FamilyName, unknown[]> = {
	anthropic: [
		{ type: "thinking", thinking: "anthropic thinks", signature: SIGNATURES[0] },
		{ type: "thinking", thinking: "anthropic ends", signature: SIGNATURES[1] },
	],
	openai: [
		item("rs_resp_call_1_0", "openai thinks", SIGNATURES[0]),
		item("rs_resp_call_2_0", "openai ends", SIGNATURES[1]),
	],
	google: [SIGNATURES[0]],
	openrouter: ["openrouter thinks", "openrouter ends"],
};

test.each(FAMILY_NAMES)(
	"a session of 0.73.1 continues with its %s model, which gets its thinking byte for byte",
	async (family) => {
		const { provider, session, model, run } = await startFamilies(recorded(family));
		for (const [at, text] of ["thinks", "ends"].entries()) provider.signed(`anthropic ${text}`, SIGNATURES[at] ?? "");
		await model(WRITERS[family]);
		expect(session.model?.id).toBe(WRITERS[family].split("/").slice(1).join("/"));
		const request = await run("go on", "ok");
		expect(SIGNED[family](request.body)).toEqual(EXPECTED[family]);
		expect(callsOf(request)).toEqual(CALLS);
		expect(imagesIn(request)).toBe(2);
	},
);

test.each(PAIRS)(
	"a session of 0.73.1 by %s continues with today's %s: thinking is text, never signed",
	async (from, to) => {
		const { model, run } = await startFamilies(recorded(from));
		await model(TODAY[to][0]);
		const request = await run("go on", "ok");
		expect(SIGNED[to](request.body)).toEqual([]);
		expect(thoughtIn(request)).toBe("");
		expect(saidIn(request)).toContain(`${from} thinks`);
		expect(saidIn(request)).toContain(`${from} ends`);
		for (const signature of SIGNATURES) expect(JSON.stringify(request.body)).not.toContain(signature);
		expect(callsOf(request)).toEqual(CALLS);
		expect(imagesIn(request)).toBe(2);
	},
);
