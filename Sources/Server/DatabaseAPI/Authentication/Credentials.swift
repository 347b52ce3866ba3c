import CloudKitModel
import StoreModel

/// What a request shows of who sends it.
package struct Credentials: Sendable, Hashable {
  var caller: Caller
  /// The signature that a server-to-server key's change came with, not used up yet; nil for what only reads, and for others.
  var signature: SignatureUse?
  /// The API token that came with the request: that of a web app. Nil for native clients, for
  /// server-to-server keys, and where the container asks for none.
  var apiToken: APIToken?
  /// The web auth token that a web app is to use from now on; nil for others, whose token stays.
  var nextWebAuthToken: String?
}
