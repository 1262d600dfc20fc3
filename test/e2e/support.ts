import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import type { LoopbackProvider } from "../helpers/loopback-provider.js";
import { type PiTerminal, type PtyOptions, startPi } from "../helpers/pty.js";
import { type AgentDirContent, tempAgentDir } from "../helpers/temp.js";

/** Source of the stacking example, for a hooks directory. */
export const STACKING = readFileSync(new URL("../../hooks-examples/stacking.ts", import.meta.url), "utf8");

/** An agent directory whose default model is the provider's. */
export function agentDirFor(provider: LoopbackProvider, { settings, ...content }: AgentDirContent = {}): string {
	const chosen = { defaultProvider: "loopback", defaultModel: "scripted" };
	const extra = typeof settings === "object" && settings !== null ? settings : {};
	return tempAgentDir({ models: provider.modelsJson(), settings: { ...chosen, ...extra }, ...content });
}

/** Starts the program in a terminal and waits for its first screen. Until then the terminal is in line mode. */
export async function openPi(options: PtyOptions): Promise<PiTerminal> {
	const pi = startPi(options);
	await pi.waitForText(/^────/m);
	return pi;
}

/** Types a prompt or command and sends it. */
export async function submit(pi: PiTerminal, line: string): Promise<void> {
	pi.type(line);
	await pi.press("enter");
}

/** Sends a command that does something else during a run, once no run is in progress. A reply is on the screen before its run ends. */
export async function submitIdle(pi: PiTerminal, line: `/${string}`): Promise<void> {
	await pi.waitForGone("esc stops");
	await submit(pi, line);
}

const ALONE_MS = 900;

/**
 * Waits as a person who reads a question that is on the screen, for longer than any pause that its answers need. Only the clock of
 * the program knows of it.
 */
export function read(): Promise<void> {
	return setTimeout(1000);
}

/** Answers a question that is on the screen with a letter, as a person who has read it. */
export async function answer(pi: Pick<PiTerminal, "type">, letter: string): Promise<void> {
	await read();
	pi.type(letter);
	await setTimeout(ALONE_MS);
}

/** Answers a question of plain mode that is on the screen with a line, as a person who has read it. */
export async function answerLine(pi: PiTerminal, line: string): Promise<void> {
	await read();
	await submit(pi, line);
}

/** Messages of request `index` (0-based) as `role: text`, without the system prompt. */
export function conversation(provider: LoopbackProvider, index: number): string[] {
	const messages = provider.requests[index]?.messages ?? [];
	return messages
		.filter(({ role }) => role !== "system")
		.map(({ role, text, toolCalls = [] }) =>
			[`${role}: ${text}`, ...toolCalls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`)].join(" → "),
		);
}

/** The DEC private modes (such as 25, the cursor) that are on at the end of the output. */
export function modesLeftOn(output: string): number[] {
	const on = new Set<number>();
	for (const [, numbers = "", last] of output.matchAll(/\x1b\[\?([\d;]+)([hl])/g)) {
		for (const mode of numbers.split(";").map(Number)) last === "h" ? on.add(mode) : on.delete(mode);
	}
	return [...on].sort((a, b) => a - b);
}

/** Resolves once no process has this id. */
export async function untilGone(pid: number): Promise<void> {
	await expect.poll(() => isRunning(pid), { timeout: 10_000, interval: 20 }).toBe(false);
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		// A zombie counts as gone.
		return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
	} catch {
		return false;
	}
}
