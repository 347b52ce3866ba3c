import CloudKitModel
import Foundation
import Storage
import StoreModel

/// The pages that the link of a share shows.
enum SharePage {
  /// The answers of a user, which are the buttons of the forms.
  enum Answer: String {
    case accept
    /// Leave the invitation as it is.
    case later
    /// Request access.
    case ask
    /// End the session, so that another user can sign in.
    case signOut = "sign-out"
  }

  /// The data of a page for a signed-in user.
  struct Visitor {
    var name: String
    /// The proof that the page was shown to this user.
    var proof: String
  }

  /// The most characters of a title or a name.
  private static let textLength = 200

  /// The page for everyone who is not signed in. It is the same for every link.
  static func stranger(status: Int = 200) -> WebPage {
    page(
      status: status, title: "Shared with you",
      """
      <h1>Something was shared with you</h1>
      <p>Sign in to see it.</p>
      <p><a class="button first" href="?sign-in=yes">Sign in</a></p>
      """)
  }

  /// The page for a user who may accept the share.
  static func invitation(to share: VisibleShare, for visitor: Visitor) -> WebPage {
    page(
      title: "Shared with you", picture: SharePicture(of: share.share),
      """
      <h1>\(title(of: share))</h1>
      <p><bdi>\(owner(of: share))</bdi> shares this with you. \(permission(in: share))</p>
      \(form(for: visitor, button(.accept, "Accept", isFirst: true) + button(.later, "Not now")))
      \(account(of: visitor))
      """)
  }

  /// The page for a participant who has accepted, and for the owner. `appURL` opens the app.
  static func membership(
    in share: VisibleShare, for visitor: Visitor, appURL: String?
  ) -> WebPage {
    let isOwner = share.participant.role == .owner
    return page(
      title: isOwner ? "Your share" : "Accepted", picture: SharePicture(of: share.share),
      """
      <h1>\(title(of: share))</h1>
      <p>\(isOwner ? "You share this. The link is for those whom you invite."
        : "You have accepted this share.") \(isOwner ? "" : permission(in: share))</p>
      \(opening(appURL))
      \(account(of: visitor))
      """)
  }

  /// The page after an acceptance. It opens the app by itself.
  static func accepted(_ share: VisibleShare, appURL: String?) -> WebPage {
    page(
      title: "Accepted",
      head: appURL.map { "<meta http-equiv=\"refresh\" content=\"0;url=\($0)\">" } ?? "",
      """
      <h1>\(title(of: share))</h1>
      <p role="status">You have accepted this share.</p>
      \(opening(appURL))
      """)
  }

  /// The page for a user who may not see the share, and for a link without a share.
  static func refusal(of visitor: Visitor) -> WebPage {
    page(
      status: 404, title: "Not for you",
      """
      <h1>You cannot open this link</h1>
      <p role="alert">It is for somebody else, or nothing is shared any more.</p>
      \(form(for: visitor, button(.ask, "Ask for access")))
      \(account(of: visitor))
      """)
  }

  static func notice(_ text: String, title: String, status: Int = 200) -> WebPage {
    .notice(text, title: title, status: status, protection: protection)
  }

  static let protection = WebPage.protection(referrer: "no-referrer", opener: "same-origin")

  // MARK: Parts

  private static func page(
    status: Int = 200, title: String, picture: SharePicture? = nil, head: HTML = "",
    _ content: HTML
  ) -> WebPage {
    let image: HTML = picture.map { "<img class=\"picture\" alt=\"\" src=\"\($0.url)\">\n" } ?? ""
    return WebPage(
      status: status, title: title, content: "\(image)\(content)", head: head,
      hasPicture: picture != nil, protection: protection)
  }

  /// Returns a form with buttons, whose answer goes to the URL of the page.
  private static func form(for visitor: Visitor, _ buttons: [HTML]) -> HTML {
    """
    <form method="post"><input type="hidden" name="proof" value="\(visitor.proof)">
    \(buttons)</form>
    """
  }

  private static func button(_ answer: Answer, _ label: String, isFirst: Bool = false) -> [HTML] {
    let look: HTML = isFirst ? " class=\"first\"" : ""
    return ["<button\(look) name=\"answer\" value=\"\(answer.rawValue)\">\(label)</button>\n"]
  }

  /// Returns the line about the account, with the button for another one.
  private static func account(of visitor: Visitor) -> HTML {
    """
    <p>You are signed in as <strong><bdi>\(visitor.name)</bdi></strong>.</p>
    \(form(for: visitor, button(.signOut, "Use another account")))
    """
  }

  private static func opening(_ appURL: String?) -> HTML {
    guard let appURL else { return "<p>You find it in the app.</p>" }
    return "<p><a class=\"button first\" href=\"\(appURL)\">Open the app</a></p>"
  }

  private static func title(of share: VisibleShare) -> HTML {
    guard case .string(let text) = share.share.fields["cloudkit.title"], !text.isEmpty else {
      return "Untitled"
    }
    return "<bdi>\(String(text.prefix(textLength)))</bdi>"
  }

  private static func owner(of share: VisibleShare) -> String {
    String((share.owner.nameComponents?.fullName ?? "Another user").prefix(textLength))
  }

  private static func permission(in share: VisibleShare) -> String {
    switch share.participant.permission {
    case .readWrite: "You may read and change it."
    case .readOnly, .none, .unknown: "You may read it."
    }
  }
}
