import CloudKitModel
import Foundation
import StoreModel

/// How far a client has read a change feed, in the form that clients keep and hand back.
///
/// A token does not say what may be read; the request does. It is sealed, for its numbers tell how much
/// happens in the database.
struct ChangeToken: Equatable {
  enum Feed: Equatable {
    case database
    /// The feed of the zone with this number. A zone that is made again has another.
    case zone(Int64)
  }

  /// A feed that is read from its newest change backwards.
  struct Walk: Equatable {
    /// The version that the walk began at: where a reader goes on when the walk is done.
    var top: Int64
    /// Everything from here up to ``top`` was read.
    var below: Int64
  }

  var database: DatabaseID
  var feed: Feed
  /// Everything up to this version was read.
  var position: Int64
  /// The version at which the reader began with nothing: what was deleted before, it never had.
  var base: Int64
  var walk: Walk?

  /// The newest deletion that the reader needs not be told of.
  var knownDeletions: Int64 { max(position, base) }

  /// The token of a reader who has nothing yet, in a feed that stands at `version`.
  init(beginningOf feed: Feed, in database: DatabaseID, at version: Int64) {
    self.database = database
    self.feed = feed
    position = 0
    base = version
  }

  // MARK: Text

  /// Reads a token. Throws ``StoreError/Code/changeTokenExpired`` when it is none: an app that comes
  /// from another server still has tokens of that one, and does the right thing then.
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

  /// - Parameter isRepeatable: Whether the same token always has the same text.
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

  // MARK: Tokens in the clear
}
