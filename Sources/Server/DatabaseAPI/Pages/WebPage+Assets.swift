import Cryptography
import Foundation

extension WebPage {
  static let style = """
    :root { color-scheme: light dark; }
    * { box-sizing: border-box; }
    body { margin: 0; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
    main { max-width: 24rem; margin: 0 auto; }
    h1 { font-size: 1.5rem; margin: 0.5rem 0; }
    .place { overflow-wrap: anywhere; }
    .problem { border: 2px solid #c22; border-radius: 0.5rem; padding: 0.5rem 0.75rem; }
    label { display: block; margin-top: 0.75rem; }
    input[type=text], input[type=password] { display: block; width: 100%; font: inherit;
      padding: 0.5rem; border: 1px solid; border-radius: 0.5rem; }
    label.choice { display: flex; gap: 0.5rem; align-items: baseline; }
    button, .button { display: block; width: 100%; font: inherit; margin-top: 1rem;
      padding: 0.6rem; border: 1px solid; border-radius: 0.5rem; cursor: pointer; }
    .button { text-align: center; text-decoration: none; }
    .first { background: #0b57d0; color: #fff; border-color: #0b57d0; }
    .picture { max-width: 8rem; max-height: 8rem; }
    :focus-visible { outline: 3px solid #0b57d0; outline-offset: 2px; }
    """

  /// The script of the sign-in, which sends the outcome to the window that opened the page, as a message with the
  /// members that CloudKit JS reads. The script reads the outcome from the data attributes of the
  /// element `main`.
  static let script = """
    'use strict';
    const main = document.querySelector('main');
    const app = window.opener;
    if (app && !app.closed) {
      const { token, failure, origins } = main.dataset;
      const outcome = failure
        ? { errorMessage: failure } : { ckWebAuthToken: token, ckSession: token };
      for (const origin of origins.split(' ')) app.postMessage(outcome, origin);
      document.getElementById('done').hidden = false;
      window.close();
    } else {
      document.getElementById('alone').hidden = false;
    }
    """

  /// Returns the content security policy of a page.
  ///
  /// The page may use its own style, its own script if it has one, and pictures that are part of
  /// it. It may send its form to this server. The answer to the form may redirect to the origin
  /// `formTarget`; nil permits no redirect elsewhere.
  var contentSecurityPolicy: String {
    var rules = [
      "default-src 'none'", "style-src '\(Self.digest(of: Self.style))'", "base-uri 'none'",
      "frame-ancestors 'none'", "form-action 'self'" + (formTarget.map { " " + $0 } ?? ""),
    ]
    if hasScript { rules.append("script-src '\(Self.digest(of: Self.script))'") }
    if hasPicture { rules.append("img-src data:") }
    return rules.joined(separator: "; ")
  }

  /// Returns the source expression of the policy that permits exactly this script or style, by its
  /// SHA-256 hash.
  private static func digest(of text: String) -> String {
    "sha256-" + Data(SHA256.hash(text.utf8)).base64EncodedString()
  }
}
