/** Properties of the HTTP exchange behind a reply that the message of the client omits. */
export interface ResponseFacts {
	/** Status of the response; null when none arrived. */
	status: number | null;
	/** The delay that a failed response requests, in ms; null for none. */
	retryAfterMs: number | null;
	/** JSON body of a failed response; null for none. */
	body: string | null;
	/** The response is a web page. */
	isPage: boolean;
	/** The error that broke the connection. */
	error: { code: string; message: string } | null;
	/** `host:port` of the proxy that the request went through; null for none. */
	proxy: string | null;
	/** The error occurred between pi and the proxy. */
	isProxyError: boolean;
}

/** Facts about a request without an HTTP exchange. */
export const NO_FACTS: ResponseFacts = {
	status: null,
	retryAfterMs: null,
	body: null,
	isPage: false,
	error: null,
	proxy: null,
	isProxyError: false,
};

/** `host:port` of an address, the default port included. */
export function hostAndPort(url: string): string {
	try {
		const { hostname, port, protocol } = new URL(url);
		return `${hostname}:${port || (protocol === "http:" ? 80 : 443)}`;
	} catch {
		return url; // a provider without a URL, such as a scripted one
	}
}
