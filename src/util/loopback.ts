/** Whether a host of a URL (`url.hostname`: in lower case, IPv6 in brackets) is this machine: localhost, 127.0.0.0/8 or ::1. */
export function isLoopbackHost(hostname: string): boolean {
	return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
