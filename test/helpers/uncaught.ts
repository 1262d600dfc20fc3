import { onTestFinished } from "vitest";

/** Collects the messages of uncaught exceptions until the end of the test, instead of failing it. */
export function collectUncaught(): string[] {
	const messages: string[] = [];
	const listeners = process.listeners("uncaughtException");
	process.removeAllListeners("uncaughtException");
	process.on("uncaughtException", ({ message }) => void messages.push(message));
	onTestFinished(() => {
		process.removeAllListeners("uncaughtException");
		for (const listener of listeners) process.on("uncaughtException", listener);
	});
	return messages;
}
