/** The HTTP response to a request: its status and its public headers, by lower-case name. */
export interface ResponseHead {
	status: number;
	headers: Record<string, string>;
}

/** Headers that hold, or may hold, credentials. */
const SECRET =
	/cookie|authori[sz]ation|authenticat|credential|secret|password|api-?key|csrf|(^|[-_])token$|session-?(id|token)/;

/**
 * The headers of a response without cookies and credentials.
 * @param raw names and values in turn; values of repeated names are joined
 */
export function publicHeaders(raw: readonly (Buffer | string)[]): Record<string, string> {
	const headers: Record<string, string> = {};
	for (let i = 0; i + 1 < raw.length; i += 2) {
		const name = String(raw[i]).toLowerCase();
		if (SECRET.test(name)) continue;
		const value = String(raw[i + 1]);
		const earlier = Object.hasOwn(headers, name) ? headers[name] : undefined;
		headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
	}
	return headers;
}
