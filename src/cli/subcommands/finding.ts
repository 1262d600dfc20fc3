/** Result of one check of `pi doctor`. */
export interface Finding {
	name: string;
	state: "ok" | "note" | "problem";
	text: string;
	/** How to fix a problem; the name is part of the JSON output. */
	fix?: string;
}
