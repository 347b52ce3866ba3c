import CloudKitModel
import Foundation
import StoreModel

/// A client's position in a change feed, as the token that clients keep and return.
///
/// A token grants no access; the request decides that. The token is sealed, because its numbers
/// would reveal the activity in the database.
///
/// A reader that begins with nothing gets records, but no deletions from before it began: it never
/// had the deleted records. ``base`` is that beginning. Deletions that the reader has not seen and
/// that were trimmed make the token expire.
struct ChangeToken: Equatable {
  /// The feed to which a position belongs.
  enum Feed: Equatable {
    /// The feed of the database's zones.
    case database
    /// The feed of the zone with this number. A zone that is deleted and created again has another
    /// number.
    case zone(Int64)
  }

  /// A walk through a feed from its newest change backwards.
  ///
  /// A reader who wants the newest changes first walks from ``top`` down to
  /// ``ChangeToken/position``. Later changes are not part of the walk. When it is done,
  /// ``ChangeToken/position`` becomes ``top``.
  struct Walk: Equatable {
    /// The version at which the walk began. When the walk is done, the reader continues from here.
    var top: Int64
    /// All changes from here up to ``top`` were read. The next page continues with older ones.
    var below: Int64
  }

  var database: DatabaseID
  var feed: Feed
  /// All changes up to this version were read. 0 for a reader with nothing.
  var position: Int64
  /// The version at which the reader began with nothing. The reader never had records deleted
  /// before it.
  var base: Int64
  /// The unfinished walk backwards; nil for a feed in the order of changes.
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

  /// Reads a token.
  ///
  /// An app that comes from another server still has that server's tokens, and reacts correctly to
  /// the error: it reads the feed from its beginning.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for any text that this store has not made.
  init(_ text: String, sealedBy tokens: TokenCipher) throws {
    let broken = StoreError(
      .changeTokenExpired,
      "the change token is not one of this server's; start again without a token")
    guard let body = tokens.open(text, as: .changes) else { throw broken }
    do {
      try self.init(decoding: body)
    } catch {
      throw broken
    }
  }

  /// Returns the sealed token, as a text that clients keep.
  ///
  /// - Parameter isRepeatable: whether the same token always has the same text. Apps compare
  ///   tokens, but the text of a reader who may not see everything must not show whether something
  ///   changed.
  func text(sealedBy tokens: TokenCipher, isRepeatable: Bool = true) throws -> String {
    try tokens.seal(encoded, as: .changes, isRepeatable: isRepeatable)
  }

  // MARK: Contents

  /// Decodes the contents of a token.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for other contents.
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

  /// The contents of the token, coded by position.
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
