import CloudKitModel
import StoreModel

extension UserDeletionStep {
  /// Ends the shares of a private database before its rows are removed. The participants learn of
  /// each zone once; the deletion waits until they have. Returns whether nothing is left to do.
  mutating func endShares() throws -> Bool {
    guard try ShareTable(transaction: transaction).hasAny(in: database) else { return true }
    let participants = ParticipantTable(transaction: transaction)
    let outbox = OutboxTable(transaction: transaction)
    guard let zone = try participants.someZone(of: database) else {
      if try outbox.hasUndispatched(in: database) {
        row.deletion.state = .waiting
        return false
      }
      return true
    }
    let change = Change(
      event: .zoneDeleted,
      zoneID: try ZoneTable(transaction: transaction).id(of: zone, in: database), record: nil,
      notificationID: transaction.context.makeUUID(), timestamp: timestamp)
    try outbox.post(
      change, sequence: try DatabaseTable(transaction: transaction).nextNumber(of: database),
      in: database,
      audience: ShareAudience(departed: try participants.users(inZone: zone, of: database)))
    try participants.removeAll(inZone: zone, of: database)
    return false
  }
}
