// Pages that are opened as files may neither fetch the search index nor start a worker: the index is then a script, which sets
// it by `setSearchIndex`, and the worker runs in a hidden frame.
if (location.protocol === "file:") {
  const base = new URL(".", document.currentScript.src);
  const load = (owner, url) => new Promise((done) => {
    const script = owner.createElement("script");
    script.src = url;
    script.onload = done;
    owner.body.append(script);
  });

  window.__search = {
    index: new Promise((done) => {
      window.setSearchIndex = done;
      addEventListener("DOMContentLoaded", () => load(document, new URL("search/search_index.js", base)));
    }),
  };

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.scope = frame.contentWindow;
      this.scope.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.scope.importScripts = (...urls) => Promise.all(urls.map((one) => load(frame.contentDocument, one)));
      this.ready = load(frame.contentDocument, url);
    }

    postMessage(data) {
      this.ready.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
