import CloudKitModel
import StoreModel

/// The state of a container's development databases when the checks of an import began. It finds
/// the records that were saved since.
///
/// The checks read the records of a type in many small reads, and clients save records meanwhile.
/// Versions come from the database's sequence (``DatabaseTable/nextNumber(of:)``). So a record
/// that was saved after the start has a version above the last number that was drawn then.
struct ImportStart: Sendable {
  private let lastNumbers: [DatabaseID: Int64]

  private static let pageSize = 500

  init(of container: String, transaction: StoreTransaction) throws {
    let databases = DatabaseTable(transaction: transaction)
    var lastNumbers: [DatabaseID: Int64] = [:]
    var last: Int64 = 0
    while let next = try databases.next(after: last, of: container, in: .development) {
      let database = DatabaseID(rawValue: next)
      lastNumbers[database] = try databases.lastNumber(drawnIn: database)
      last = next
    }
    self.lastNumbers = lastNumbers
  }

  func record(
    savedLaterIn scan: TypeScan, where condition: (Record) -> Bool
  ) throws -> Record? {
    let zones = ZoneTable(transaction: scan.transaction)
    var last: Int64 = 0
    while let next = try scan.nextDatabase(after: last) {
      let database = DatabaseID(rawValue: next)
      let number = lastNumbers[database] ?? 0
      for zone in try zones.numbers(changedAfter: number, in: database) {
        let found = try record(
          of: scan.type, savedAfter: number, inZone: zone, of: database,
          transaction: scan.transaction, where: condition)
        if let found { return found }
      }
      last = next
    }
    return nil
  }

  private func record(
    of type: RecordTypeEntry, savedAfter number: Int64, inZone zone: Int64,
    of database: DatabaseID, transaction: StoreTransaction, where condition: (Record) -> Bool
  ) throws -> Record? {
    let records = RecordTable(transaction: transaction)
    var last = number
    while true {
      let rows = try records.rows(
        changedAfter: last, inZone: zone, of: database, limit: Self.pageSize)
      for row in rows where row.typeNumber == type.number {
        let record = try records.record(row, in: database).record
        if condition(record) { return record }
      }
      guard rows.count == Self.pageSize, let end = rows.last else { return nil }
      last = end.version
    }
  }
}
