/** Runs commands for an extension: for a tool that it creates, and in its answer to `user_bash`. */
export interface CommandOperations {
	exec(
		command: string,
		cwd: string,
		options: { onData(data: Buffer): void; signal?: AbortSignal; timeout?: number; env?: object },
	): Promise<{ exitCode: number | null }>;
}
