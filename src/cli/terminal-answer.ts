/** Reads a line from the terminal, whose line editing is still on: Ctrl+C ends pi. */
export function readLine(): Promise<string> {
	const { stdin } = process;
	return new Promise((resolve) => {
		const settle = (line: string) => {
			stdin.off("data", onData).off("end", onEnd).pause();
			resolve(line);
		};
		const onData = (data: Buffer) => settle(data.toString());
		const onEnd = () => settle("");
		// After an earlier answer the stream is paused.
		stdin.on("data", onData).on("end", onEnd).resume();
	});
}
