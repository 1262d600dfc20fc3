/** A file attached to a prompt. */
export interface Attachment {
	id: string;
	type: "image" | "document";
	fileName: string;
	mimeType: string;
	/** Bytes. */
	size: number;
	/** Base64. */
	content: string;
	extractedText?: string;
	/** Base64 of a smaller image. */
	preview?: string;
}
