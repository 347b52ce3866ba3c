import CloudKitModel
import Foundation
import StoreModel

/// A reader's position in a user's notification log, in each database. Clients get it as an
/// encrypted text.
struct NotificationLogToken: Equatable {
  /// A position in the log of one database.
  struct Place: Equatable {
    /// The last change that the reader got; 0 before the first.
    var position: Int64
    /// The position up to which the log was trimmed when the reader got its last page.
    var floor: Int64
  }

  var recipient: Recipient
  /// A database in which the user had no subscriptions is missing.
  var places: [DatabaseID: Place] = [:]

  private static let mark = "notifications"

  init(of recipient: Recipient) {
    self.recipient = recipient
  }

  /// - Throws: ``StoreError/Code/badContinuation`` if the text is not a token of a notification
  ///   log.
  init(_ text: String, sealedBy tokens: TokenCipher) throws {
    let broken = StoreError(
      .badContinuation,
      "the change token is not one of a notification log; send the token of the log's last page, "
        + "or start without one")
    guard let body = tokens.open(text, as: .notificationLog) else { throw broken }
    do {
      var decoder = try RowDecoder(body, of: "change token")
      guard try decoder.decodeText() == Self.mark else { throw broken }
      let user = try decoder.decodeText()
      let container = try decoder.decodeText()
      guard let environment = ContainerEnvironment(rawValue: try decoder.decodeText()) else {
        throw broken
      }
      recipient = Recipient(
        userRecordName: user, container: container, environment: environment)
      for _ in 0..<(try decoder.decodeCount()) {
        let database = DatabaseID(rawValue: try decoder.decodeInteger())
        places[database] = Place(
          position: try decoder.decodeInteger(), floor: try decoder.decodeInteger())
      }
      try decoder.finish()
    } catch {
      throw broken
    }
  }

  func text(sealedBy tokens: TokenCipher) throws -> String {
    var encoder = RowEncoder()
    encoder.encode(Self.mark)
    encoder.encode(recipient.userRecordName)
    encoder.encode(recipient.container)
    encoder.encode(recipient.environment.rawValue)
    encoder.encode(each: places.sorted { $0.key < $1.key }) { encoder, place in
      encoder.encode(place.key.rawValue)
      encoder.encode(place.value.position)
      encoder.encode(place.value.floor)
    }
    return try tokens.seal(encoder.bytes, as: .notificationLog)
  }
}
