import Foundation
import HTTPService

/// A web app on an origin of its own: a page whose script speaks to the server as CloudKit JS does.
final class AppPage: Sendable {
  private let server: HTTPServer

  init() throws {
    server = HTTPServer(configuration: .init()) { request in
      guard request.path == "/" else { return HTTPResponse(status: 404) }
      return HTTPResponse(
        headers: [("Content-Type", "text/html; charset=utf-8")], body: .data(Data(Self.page.utf8)))
    }
    try server.start()
  }

  /// A name that is another site than the server's address, not just another port.
  var origin: String { "http://localhost:\(server.port)" }

  func stop() async { await server.stop(within: .seconds(5)) }

  private static let page = """
    <!DOCTYPE html>
    <html lang="en"><head><meta charset="utf-8"><title>App</title></head>
    <body>
    <button id="sign-in" disabled>Sign in</button>
    <script>
    'use strict';
    const app = {
      messages: [],
      configure(settings) { Object.assign(app, settings); },

      // Bodies are text, so that the browser need not ask first.
      async call(kind, path, body) {
        const query = new URLSearchParams({ ckjsVersion: '2.6.4', clientId: app.clientId });
        if (app.apiToken) query.set('ckAPIToken', app.apiToken);
        if (app.webAuthToken) query.set('ckWebAuthToken', app.webAuthToken);
        const url = `${app.server}/${kind}/1/${app.container}/development/${path}?${query}`;
        const response = await fetch(url, body === undefined ? {} : {
          method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: JSON.stringify(body)
        });
        const next = response.headers.get('X-Apple-CloudKit-Web-Auth-Token');
        if (next) app.webAuthToken = next;
        return { status: response.status, json: await response.json() };
      },

      async setUpAuth() {
        const answer = await app.call('database', 'public/users/caller');
        const button = document.getElementById('sign-in');
        if (answer.status === 421) {
          app.redirectURL = answer.json.redirectURL;
          button.disabled = false;
          button.onclick = () => { app.popup = window.open(app.redirectURL, 'sign-in'); };
        }
        return answer;
      }
    };
    window.addEventListener('message', (event) => {
      app.messages.push({ origin: event.origin, data: event.data });
      const token = event.data.ckWebAuthToken || event.data.ckSession;
      if (event.origin === app.server && token) app.webAuthToken = token;
    });
    </script>
    </body></html>
    """
}
