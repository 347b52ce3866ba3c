import CloudKitModel
import Foundation
import StoreModel

/// A client's position in a change feed, as the token that clients keep and return.
///
/// A token grants no access; the request decides that. It is sealed, because its numbers would
/// reveal the activity in the database.
struct ChangeToken: Equatable {
  enum Feed: Equatable {
    case database
    /// The feed of the zone with this number. A zone that is deleted and created again has another
    /// number.
    case zone(Int64)
  }

  /// A walk through a feed from its newest change backwards.
  struct Walk: Equatable {
    /// The version at which the walk began. When the walk is done, the reader continues from here.
    var top: Int64
    /// All changes from here up to ``top`` were read.
    var below: Int64
  }

  var database: DatabaseID
  var feed: Feed
  /// All changes up to this version were read.
  var position: Int64
  /// The version at which the reader began with nothing. The reader never had records deleted
  /// before it.
  var base: Int64
  var walk: Walk?

  /// The newest deletion that the reader need not see.
  var knownDeletions: Int64 { max(position, base) }

  /// The token of a reader with nothing, in a feed that stands at `version`.
  init(beginningOf feed: Feed, in database: DatabaseID, at version: Int64) {
    self.database = database
    self.feed = feed
    position = 0
    base = version
  }

  // MARK: Text

  /// Reads a token. Throws ``StoreError/Code/changeTokenExpired`` for any other text: an app that
  /// comes from another server still has that server's tokens, and reacts correctly to this error.
  init(_ text: String, sealedBy tokens: TokenCipher) throws {
    let broken = StoreError(
      .changeTokenExpired,
      "the change token is none of this server's feeds; start again without a token")
    guard let body = tokens.open(text, as: .changes) else { throw broken }
    do {
      try self.init(decoding: body)
    } catch {
      throw broken
    }
  }

  /// - Parameter isRepeatable: whether the same token always has the same text.
  func text(sealedBy tokens: TokenCipher, isRepeatable: Bool = true) throws -> String {
    try tokens.seal(encoded, as: .changes, isRepeatable: isRepeatable)
  }

  // MARK: Contents

  private init(decoding body: [UInt8]) throws {
    var decoder = try RowDecoder(body, of: "change token")
    database = DatabaseID(rawValue: try decoder.decodeInteger())
    feed = try decoder.decodeOptional { try $0.decodeInteger() }.map { .zone($0) } ?? .database
    position = try decoder.decodeInteger()
    base = try decoder.decodeInteger()
    walk = try decoder.decodeOptional {
      Walk(top: try $0.decodeInteger(), below: try $0.decodeInteger())
    }
    try decoder.finish()
  }

  private var encoded: [UInt8] {
    var encoder = RowEncoder(reserving: 32)
    encoder.encode(database.rawValue)
    var zoneNumber: Int64?
    if case .zone(let number) = feed { zoneNumber = number }
    encoder.encode(optional: zoneNumber) { $0.encode($1) }
    encoder.encode(position)
    encoder.encode(base)
    encoder.encode(optional: walk) {
      $0.encode($1.top)
      $0.encode($1.below)
    }
    return encoder.bytes
  }
}
