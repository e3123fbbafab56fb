/* <outbox-card>: cards of Outbox Console in other pages; docs/embedding.md says how. */
if (!customElements.get('outbox-card')) {
	const CLAIMS = ['view', 'key', 'business-key', 'outbox', 'window'];
	const LATE_MS = 15000;
	const PAUSES_MS = [1000, 1000, 2000, 5000, 10000, 30000];
	const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
	// By script, as a strict style-src wants it.
	const sheet = new CSSStyleSheet();
	sheet.replaceSync(
		':host{display:block;min-width:280px}:host([hidden]){display:none}iframe{display:block;width:100%;height:160px;border:0}',
	);

	const frameIn = (card) => {
		let frame, origin, byToken, ready, renewing, tries, askedAt, timer, height;
		const root = card.attachShadow({ mode: 'open' });
		root.adoptedStyleSheets = [sheet];
		const of = (name) => card.getAttribute(name);
		const copy = (names, to) => {
			for (const name of names) if (of(name)) to.set(name.replace('business-', ''), of(name));
		};
		const theme = () => (/^(light|dark)$/.test(of('theme')) ? of('theme') : 'auto');
		const post = (message) => frame.contentWindow.postMessage({ protocol: 'outbox-card.v1', ...message }, origin);
		const tell = (state, code) => {
			card.state = state;
			card.setAttribute('state', state);
			card.dispatchEvent(new CustomEvent('outbox-card-state', { bubbles: true, composed: true, detail: { state, code } }));
		};
		const paint = () => {
			if (!frame) return;
			// Else something opaque is behind a transparent card.
			frame.style.colorScheme = theme().replace('auto', 'light dark');
			if (ready) post({ type: 'theme', theme: theme() });
		};
		const stop = (words = '') => {
			clearTimeout(timer);
			frame = ready = renewing = null;
			tries = askedAt = 0;
			root.textContent = words;
			if (words) console.error(words);
		};
		const load = () => {
			clearTimeout(timer);
			frame = null;
			timer = setTimeout(start);
		};

		const start = () => {
			if (!card.isConnected) return;
			const [address, view] = [of('console') ?? '', of('view')];
			let home;
			try {
				home = new URL(address, address[0] === '/' ? document.baseURI : undefined);
			} catch {}
			if (!/^https?:/.test(home)) return stop(`outbox-card: console="${address}" is no address`);
			if (!/^(fate|outbox|dead-letters|fleet)$/.test(view)) return stop(`outbox-card: unknown view="${view}"`);
			stop();
			origin = home.origin;
			byToken = card.getToken || of('token-url') !== null;
			const lang = card.closest('[lang]')?.lang.slice(0, 2) ?? '';
			const tz = of('tz') ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
			const query = new URLSearchParams({ auth: byToken ? 'token' : 'session', theme: theme(), lang, tz, host: self.origin });
			copy(['background'], query);
			// A token has the key: no address has it then, nor a log.
			if (!byToken) copy(CLAIMS.slice(1), query);
			frame = document.createElement('iframe');
			frame.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox');
			frame.referrerPolicy = 'origin';
			frame.title = card.title || `Outbox Console: ${view}`;
			frame.style.height = height;
			frame.src = `${origin}${home.pathname.replace(/\/+$/, '')}/embed/${view}?${query}`;
			paint();
			root.append(frame);
			tell('loading', null);
			// The browser says why: not listed there, or not in frame-src here.
			timer = setTimeout(() => {
				tell('unreachable', null);
				timer = setTimeout(start, LATE_MS);
			}, LATE_MS);
		};

		const token = async () => {
			if (card.getToken) return card.getToken();
			const url = new URL(of('token-url'), document.baseURI);
			copy(CLAIMS, url.searchParams);
			const text = (await (await fetch(url, { cache: 'no-store' })).text()).trim();
			return text[0] === '{' ? JSON.parse(text).token : text;
		};
		const renew = async () => {
			const asking = (renewing = frame);
			while (renewing) {
				await sleep(askedAt + PAUSES_MS[Math.min(tries, 5)] - Date.now());
				const found = frame === asking && (await Promise.race([token(), sleep(LATE_MS)]).catch((error) => error));
				if (frame !== asking) return;
				askedAt = Date.now();
				tries += 1;
				if (/^[\w-]+(\.[\w-]+){2}$/.test(found)) {
					renewing = null;
					post({ type: 'token', token: found });
				} else console.warn('outbox-card: no token', found?.message);
			}
		};

		const hear = ({ origin: from, source, data }) => {
			if (!frame || from !== origin || source !== frame.contentWindow || data?.protocol !== 'outbox-card.v1') return;
			const { type, state, code, why } = data;
			if (type === 'ready') {
				clearTimeout(timer);
				ready = true;
				paint();
			} else if (type === 'size' && Number.isFinite(data.height)) {
				height = frame.style.height = `${Math.ceil(Math.min(data.height, 20000))}px`;
			} else if (type === 'state' && /^(loading|live|stale|refused|unreachable)$/.test(state) && /^\w+$/.test(code)) {
				if (state === 'live') tries = 0;
				tell(state, code);
			} else if (type === 'token-wanted' && byToken) {
				if (why === 'ending') tries = 0;
				if (!renewing) renew();
			}
		};
		return { load, stop, paint, hear };
	};

	class OutboxCard extends HTMLElement {
		constructor() {
			super();
			this._frame = frameIn(this);
			// Set before this script came.
			const early = this.getToken;
			delete this.getToken;
			this.getToken = early;
		}
		get getToken() {
			return this._getToken;
		}
		set getToken(value) {
			if (!value !== !this._getToken) this._frame.load();
			this._getToken = value;
		}
		connectedCallback() {
			addEventListener('message', this._frame.hear);
			this._frame.load();
		}
		disconnectedCallback() {
			removeEventListener('message', this._frame.hear);
			this._frame.stop();
		}
		attributeChangedCallback(name, before, after) {
			if (before !== after) this._frame[name === 'theme' ? 'paint' : 'load']();
		}
	}
	OutboxCard.observedAttributes = ['theme', 'console', 'token-url', 'lang', 'tz', 'background', ...CLAIMS];
	customElements.define('outbox-card', OutboxCard);
}
