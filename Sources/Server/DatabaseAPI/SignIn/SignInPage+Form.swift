import CloudKitModel

extension SignInPage {
  static func content(of form: Form) -> HTML {
    let checked: HTML = form.staysSignedIn ? " checked" : ""
    let fields: HTML = form.acceptsPasswords ? fields(form) : ""
    let button: HTML =
      form.acceptsPasswords ? "<button class=\"first\">Sign in</button>\n" : ""
    return """
      <h1>Sign in</h1>
      <p class="place">\(place(form.request))</p>
      \(problem(form.problem))<form method="post" action="\(form.action)">
      <input type="hidden" name="state" value="\(form.state)">
      <input type="hidden" name="proof" value="\(form.proof)">
      \(fields)<label class="choice"><input type="checkbox" name="stay" value="yes"\(checked)>
      <span>Stay signed in for two weeks instead of 30 minutes</span></label>
      \(button)\(form.choices.map(Self.button))\(cancelButton(form))</form>
      """
  }

  /// Returns the button to cancel. The button is there only if the app can get a message about the
  /// cancellation. If the app waits for a redirect, the user goes back with the browser.
  private static func cancelButton(_ form: Form) -> HTML {
    guard case .message = form.request.callback else { return "" }
    return "<button formaction=\"\(form.action)/cancel\" formnovalidate>Cancel</button>\n"
  }

  /// Returns the purpose of the sign-in: the app that gets the token, with its environment and its
  /// origin, or the page of a share.
  private static func place(_ request: SignInRequest) -> HTML {
    let environment: HTML = request.environment == .development ? " (development)" : ""
    let app: HTML = "to <strong>\(request.container)</strong>\(environment) for the app"
    switch request.callback {
    case .message(let origins) where !origins.isEmpty:
      return "\(app) at \(origins.joined(separator: ", "))"
    case .message:
      return "\(app) that opened this window"
    case .redirect(let url):
      return "\(app) at \(SignInRequest.origin(of: url) ?? url)"
    case .sharePage:
      return "to see what was shared with you"
    }
  }

  private static func problem(_ text: String?) -> HTML {
    guard let text else { return "" }
    return "<p class=\"problem\" id=\"problem\" role=\"alert\">\(text)</p>\n"
  }

  private static func fields(_ form: Form) -> HTML {
    let mark: HTML =
      form.problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"problem\""
    return """
      <label for="name">Name</label>
      <input type="text" id="name" name="name" value="\(form.name)" autocomplete="username" \
      autocapitalize="none" spellcheck="false" maxlength="255" required autofocus\(mark)>
      <label for="password">Password</label>
      <input type="password" id="password" name="password" autocomplete="current-password" \
      maxlength="1024" required\(mark)>

      """
  }

  private static func button(_ choice: Choice) -> HTML {
    """
    <button formaction="\(choice.action)" formnovalidate>\(choice.label)</button>

    """
  }
}
