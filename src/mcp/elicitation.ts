import type { ElicitRequest, ElicitRequestFormParams, ElicitResult } from "@modelcontextprotocol/client";
import { plainOutput } from "../tools/output.js";
import type { Approval } from "../util/approval.js";
import { revealInvisible } from "../util/reveal.js";
import { type Answer, askField, type Field, fieldName, type McpUser, showAnswer } from "./elicitation-fields.js";

const DECLINED: ElicitResult = { action: "decline" };
const CANCELED: ElicitResult = { action: "cancel" };

/**
 * Asks the user what a server wants to know. Nothing is sent that the user has not seen: a form with several fields is
 * shown once more before it is sent, and pi opens no address.
 * @param server name of the server that asks
 * @returns `cancel` if the user closes a dialog or the signal aborts
 */
export async function answerElicitation(
	server: string,
	params: ElicitRequest["params"],
	user: McpUser,
	signal: AbortSignal,
): Promise<ElicitResult> {
	const message = revealInvisible(plainOutput(params.message)).trim();
	const about = `MCP server ${server} asks: ${message}`;
	return params.mode === "url"
		? askConsent(about, params.url, user, signal)
		: askForm(server, about, params, user, signal);
}

async function askConsent(about: string, url: string, user: McpUser, signal: AbortSignal): Promise<ElicitResult> {
	if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : "")) return DECLINED;
	const { href, host } = new URL(url);
	const text = `It wants you to open this page on ${host} in a browser, which pi does not do for you:\n${href}`;
	return approve({ question: about, subject: { kind: "text", text }, yes: "Continue", no: "Decline" }, user, signal);
}

/** Asks for what the answer to the server depends on. */
async function approve(approval: Approval, user: McpUser, signal: AbortSignal): Promise<ElicitResult> {
	const answer = await user.approve(approval, { signal });
	if (answer.allowed) return { action: "accept" };
	return answer.isClosed ? CANCELED : DECLINED;
}

async function askForm(
	server: string,
	about: string,
	{ requestedSchema }: ElicitRequestFormParams,
	user: McpUser,
	signal: AbortSignal,
): Promise<ElicitResult> {
	// Such a user is not announced for forms, and nobody has seen this one.
	if (!user.canType) return DECLINED;
	const required = new Set(requestedSchema.required);
	const fields = Object.entries(requestedSchema.properties).map(
		([name, schema]): Field => ({ name, schema, isRequired: required.has(name) }),
	);
	const names = fields.map((field) => fieldName(field)).join(", ");
	const begin = await approve(
		{
			question: about,
			subject: { kind: "text", text: names === "" ? "" : `Fields: ${names}` },
			yes: fields.length === 0 ? "Accept" : "Answer",
			no: "Decline",
		},
		user,
		signal,
	);
	if (begin.action !== "accept") return begin;
	const content: Record<string, Answer> = {};
	for (const field of fields) {
		const answer = await askField(`MCP server ${server}`, field, user, signal);
		if (answer === null) return CANCELED;
		if (answer.value !== undefined) content[field.name] = answer.value;
	}
	if (fields.length > 1) {
		const lines = fields.map((field) => `${fieldName(field)}: ${showAnswer(content[field.name])}`);
		const sent = await approve(
			{
				question: `Send these answers to the MCP server ${server}?`,
				subject: { kind: "text", text: lines.join("\n") },
				yes: "Send",
				no: "Decline",
			},
			user,
			signal,
		);
		if (sent.action !== "accept") return sent;
	}
	return { action: "accept", content };
}

/** The reason of a call that a server refused until the user has visited pages. */
export function describeConsent(answers: readonly ElicitResult[]): string {
	const isAccepted = answers.every(({ action }) => action === "accept");
	return isAccepted
		? "it needs the user to finish a step in a browser, to which the user agreed; repeat the call when they are done"
		: "it needs the user to open a page in a browser, which the user declined";
}
