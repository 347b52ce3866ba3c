import CloudKitModel
import StoreModel

/// The credentials of a request, with the caller that they prove.
package struct Credentials: Sendable, Hashable {
  /// The caller; anonymous if the request proves none.
  var caller: Caller
  /// The signature of a request that changes something. The store has not marked the signature as
  /// used yet. Nil for a request that only reads, and for a request without a signature.
  var signature: SignatureUse?
  /// The API token of a web app. Nil for native clients, for server-to-server keys, and for a
  /// container that requires no API token.
  var apiToken: APIToken?
  /// The sign-in that the web auth token proves (`WebAuthToken.signIn`); nil without a web auth token.
  var signIn: [UInt8]?
  /// The web auth token that the client must send with its next request. Nil for a request without
  /// a web auth token, and for a native client without an API token: its token does not change.
  var nextWebAuthToken: String?
}
