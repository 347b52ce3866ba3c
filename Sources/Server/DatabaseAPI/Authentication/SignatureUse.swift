import CloudKitModel
import StoreModel
import WebServices

/// A valid signature of a request that changes something: it is good for one change.
struct SignatureUse: Sendable, Hashable {
  let keyID: String
  /// The signature's number r. Of the two signatures (r, s) and (r, n − s) one can be made from the other without the key, and
  /// both are valid.
  let mark: [UInt8]
  /// When the date of the request is out of every server's window.
  let expires: Timestamp

  /// A name for the request, by which the store knows it again and gives the answer that it gave before.
  var requestID: String { "signature-" + mark.hexadecimal }

  /// Uses the signature up, for a request that must not be carried out twice and whose first answer nobody keeps.
  ///
  /// - Throws: `TRY_AGAIN_LATER` where it was used before: a client that signs the request anew is answered.
  func spend(in store: any SignatureStore) async throws {
    guard try await store.takeSignature(mark, ofKey: keyID, until: expires) else {
      throw ServiceError(
        .tryAgainLater,
        "a request with this signature came before; sign it anew, with another date",
        retryAfter: 1)
    }
  }
}
