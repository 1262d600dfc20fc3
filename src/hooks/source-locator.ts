/** A 1-based position in a file. */
export interface Position {
	line: number;
	column: number;
}

/** Finds positions in the sources of compiled files. */
export interface SourceLocator {
	/** True for a file that was compiled here. */
	has(file: string): boolean;
	/** The position in the source of a position in the compiled file. */
	sourcePosition(file: string, position: Position): Position;
	/** SHA-256, hex, of the source of a file that was compiled here, and of its imports if they are compiled with it alone. */
	digest(file: string): string;
}
