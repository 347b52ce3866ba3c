import Foundation
import StoreModel

/// A client's position in a change feed, which the client keeps as a text.
///
/// A token grants no access: the server checks the access of each request. The text is encrypted,
/// because its numbers would reveal the activity in the database.
///
/// A reader without a token gets all records. It gets no deletions from before its beginning
/// (``base``), because it never had the deleted records. A token expires when retention deletes a
/// tombstone that the reader still needs.
struct ChangeToken: Equatable {
  /// The feed to which a position belongs.
  enum Feed: Equatable {
    case database
    /// The feed of the zone with this number. A zone that is deleted and created again has another
    /// number.
    case zone(Int64)
  }

  /// The reading of a feed from its newest change backwards, from ``top`` down to
  /// ``ChangeToken/position``. Changes after ``top`` are not part of the walk. When the walk is
  /// complete, ``ChangeToken/position`` becomes ``top``.
  struct Walk: Equatable {
    /// The version of the feed when the walk began.
    var top: Int64
    /// The version of the oldest change that was read in the walk; ``top`` plus 1 before the first
    /// page.
    var below: Int64
  }

  var database: DatabaseID
  var feed: Feed
  /// The version up to which the reader has read all changes; 0 if it has read none.
  var position: Int64
  /// The version of the feed when the reader began without a token.
  var base: Int64
  /// The incomplete walk backwards; nil if the reader gets the changes in their order.
  var walk: Walk?
  /// For the zone of another user, the participant who reads it; nil for the owner's tokens.
  var reader: Reader?

  /// The version up to which the reader needs no deletions.
  var knownDeletions: Int64 { max(position, base) }

  init(beginningOf feed: Feed, in database: DatabaseID, at version: Int64) {
    self.database = database
    self.feed = feed
    position = 0
    base = version
  }

  /// Returns whether the database gave the token out, or the token stood for it before it was
  /// created. The latter is at the beginning of each database.
  func belongs(to database: DatabaseID) -> Bool {
    self.database == database || self.database == .vacant
  }

  // MARK: Text

  /// Decrypts and reads the text of a token.
  ///
  /// - Throws: ``StoreError/Code/changeTokenExpired`` for any text that this store did not make. An
  ///   app that used another server before then reads the feed from its beginning, which is
  ///   correct.
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

  /// - Parameter isRepeatable: whether the same token always has the same text. Apps compare the
  ///   texts to see whether something changed. Pass false for a reader who may not see all records:
  ///   an equal text would show that no hidden record changed.
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
    if !decoder.isAtEnd { reader = try Reader(decoding: &decoder) }
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
    reader?.encode(to: &encoder)
    return encoder.bytes
  }
}
