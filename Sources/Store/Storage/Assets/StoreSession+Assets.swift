import CloudKitModel
import StoreModel

/// An asset in a field of a record.
struct AssetHolding: Hashable {
  var fieldName: String
  var checksum: String
}

extension Record {
  /// The assets in the record's fields.
  var assetHoldings: Set<AssetHolding> {
    var holdings: Set<AssetHolding> = []
    for (name, value) in fields {
      for asset in value.assets {
        holdings.insert(AssetHolding(fieldName: name, checksum: asset.fileChecksum))
      }
    }
    return holdings
  }
}

extension StoreSession {
  /// Brings what is known of who holds which asset from `old` to `new`; nil is no record.
  func updateAssetReferences(
    from old: StoredRecord?, to new: StoredRecord?, in database: DatabaseID
  ) throws {
    let before = old?.record.assetHoldings ?? []
    let after = new?.record.assetHoldings ?? []
    if let new {
      for holding in after.subtracting(before) { try add(holding, of: new, in: database) }
    }
    if let old {
      for holding in before.subtracting(after) { try remove(holding, of: old, in: database) }
    }
  }

  private func add(
    _ holding: AssetHolding, of stored: StoredRecord, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      INSERT INTO asset_references (database_id, checksum, record_number, field_name)
      VALUES ($1, $2, $3, $4)
      """,
      [
        .integer(database.rawValue), .text(holding.checksum), .integer(stored.number),
        .text(holding.fieldName),
      ])
    let taken = try connection.first(
      """
      UPDATE assets SET released = NULL
      WHERE database_id = $1 AND checksum = $2 AND released IS NOT NULL RETURNING size
      """, [.integer(database.rawValue), .text(holding.checksum)]
    ) { $0.integer(0) }
    if let taken { try DatabaseTable(session: self).countBytes(Int(taken), in: database) }
  }

  private func remove(
    _ holding: AssetHolding, of stored: StoredRecord, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      DELETE FROM asset_references WHERE database_id = $1 AND checksum = $2
        AND record_number = $3 AND field_name = $4
      """,
      [
        .integer(database.rawValue), .text(holding.checksum), .integer(stored.number),
        .text(holding.fieldName),
      ])
    let left = try connection.first(
      """
      UPDATE assets SET released = 0 WHERE database_id = $1 AND checksum = $2
        AND released IS NULL AND NOT EXISTS (
          SELECT 1 FROM asset_references
          WHERE asset_references.database_id = $1 AND asset_references.checksum = $2)
      RETURNING size
      """, [.integer(database.rawValue), .text(holding.checksum)]
    ) { $0.integer(0) }
    if let left { try DatabaseTable(session: self).countBytes(-Int(left), in: database) }
  }
}
