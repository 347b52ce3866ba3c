import CloudKitModel
import SQLEngine
import StoreModel

/// The uploads of assets with their receipts, and further receipts for files that records hold.
///
/// An upload has the hash of the secret in its URL, and gets a checksum and a size when the file is
/// uploaded. A receipt for a held file has no hash, and has the checksum and the size from the
/// start. A row of either kind permits its user to save the file in a record. A trim deletes the
/// row at least ``AssetRetention/receiptMilliseconds`` after the time in `expires`.
struct AssetUploadTable: Table {
  let transaction: StoreTransaction

  /// `receipt` names the file in the ``AssetStore``. `token_hash` is the SHA-256 of the secret in
  /// the upload's URL. `record_name` is null if the client named no record. `expires` is the latest
  /// time at which the upload may begin. `checksum` and `size` are null before the upload.
  static let definition = [
    """
    CREATE TABLE asset_uploads (
      database_id BIGINT NOT NULL, receipt TEXT NOT NULL, token_hash BYTEA,
      user_record_name TEXT NOT NULL, record_name TEXT, record_type TEXT, field_name TEXT,
      expires BIGINT NOT NULL, checksum TEXT, size BIGINT,
      PRIMARY KEY (database_id, receipt), UNIQUE (database_id, token_hash))
    """,
    "CREATE INDEX asset_uploads_by_checksum ON asset_uploads (database_id, checksum)",
    "CREATE INDEX asset_uploads_by_expiry ON asset_uploads (expires)",
  ]

  func add(_ upload: AssetUpload, to database: DatabaseID) throws {
    try decide(
      sql.add,
      [
        .id(database), .text(upload.receipt), .bytes(upload.tokenHash),
        .text(upload.userRecordName), SQLValue(upload.recordName), .text(upload.recordType),
        .text(upload.fieldName), .time(upload.expires),
      ])
  }

  /// Returns the upload whose URL contains the secret with this SHA-256. It may have expired.
  func upload(withTokenHash hash: [UInt8], in database: DatabaseID) throws -> AssetUpload? {
    try connection.first(sql.withToken, [.id(database), .bytes(hash)]) { row in
      AssetUpload(
        receipt: row.text(0), tokenHash: hash, userRecordName: row.text(1),
        recordName: row.optionalText(2), recordType: row.text(3), fieldName: row.text(4),
        expires: row.time(5),
        file: row.optionalText(6).map { AssetFile(checksum: $0, size: row.integer(7)) })
    }
  }

  /// A receipt for a file that a record holds is valid for any record, type and field: these are
  /// nil.
  struct Receipt {
    var user: String
    var recordName: String?
    var recordType: String?
    var field: String?
    var checksum: String?
  }

  func receipt(_ receipt: String, in database: DatabaseID) throws -> Receipt? {
    try connection.first(sql.receipt, [.id(database), .text(receipt)]) { row in
      Receipt(
        user: row.text(0), recordName: row.optionalText(1), recordType: row.optionalText(2),
        field: row.optionalText(3), checksum: row.optionalText(4))
    }
  }

  func contains(_ receipt: String, in database: DatabaseID) throws -> Bool {
    try connection.exists(sql.exists, [.id(database), .text(receipt)])
  }

  /// Stores the checksum and the size of the uploaded file with its receipt. From the commit on,
  /// ``AssetTable/trim(_:at:)`` does not delete a file with this checksum.
  /// - Returns: whether the database has an equal file already. The caller then need not store the
  ///   bytes.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/notFound`` if there is no such upload, and
  ///   with ``ItemFailure/Code/conflict`` if the upload was used for another file.
  func claim(
    _ receipt: String, in database: DatabaseID, for file: AssetFile
  ) throws -> Bool {
    let upload = try connection.first(
      sql.checksum, [.id(database), .text(receipt)]
    ) { $0.optionalText(0) }
    guard let upload else {
      throw ItemFailure(.notFound, "the upload no longer exists; request a new URL")
    }
    if let checksum = upload, checksum != file.checksum {
      throw ItemFailure(
        .conflict, "the upload URL was used for another file; each file needs a URL of its own")
    }
    try decide(
      sql.claim, [.id(database), .text(receipt), .text(file.checksum), .integer(file.size)])
    return try AssetTable(transaction: transaction).contains(file.checksum, in: database)
  }

  /// Adds a receipt for a file that a record holds. `expires` is `timestamp`.
  func addReceipt(
    _ receipt: String, for asset: Asset, of user: String, at timestamp: Timestamp,
    to database: DatabaseID
  ) throws {
    try decide(
      sql.addReceipt,
      [
        .id(database), .text(receipt), .text(user),
        .time(timestamp), .text(asset.fileChecksum), .integer(asset.size),
      ])
  }

  /// Uploads that expired at `horizon` or earlier, in the order of their expiry.
  func old(before horizon: Int64) throws -> [OldUpload] {
    try connection.rows(
      sql.old, [.integer(horizon), .integer(Retention.batch)], OldUpload.init(row:))
  }

  /// In no order; nil returns those of all users.
  func some(of user: String?, in database: DatabaseID) throws -> [OldUpload] {
    try connection.rows(
      sql.some, [.id(database), SQLValue(user), .integer(Retention.batch)], OldUpload.init(row:))
  }

  /// Deletes the rows, marks unregistered files, and returns the count of `uploads`.
  func forget(_ uploads: [OldUpload]) throws -> Int {
    for upload in uploads {
      if !upload.isRereference {
        // The file may have been stored, but not registered.
        try AssetTable(transaction: transaction).dispose(
          ofFile: upload.receipt, unlessKeptIn: upload.database)
      }
      try decide(sql.forget, [.id(upload.database), .text(upload.receipt)])
    }
    return uploads.count
  }

  struct Statements {
    let add: Statement = """
      INSERT INTO asset_uploads (database_id, receipt, token_hash, user_record_name, record_name,
        record_type, field_name, expires)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """
    let withToken: Statement = """
      SELECT receipt, user_record_name, record_name, record_type, field_name, expires, checksum,
        size
      FROM asset_uploads WHERE database_id = $1 AND token_hash = $2
      """
    let receipt: Statement = """
      SELECT user_record_name, record_name, record_type, field_name, checksum FROM asset_uploads
      WHERE database_id = $1 AND receipt = $2
      """
    let exists: Statement = "SELECT 1 FROM asset_uploads WHERE database_id = $1 AND receipt = $2"
    let checksum: Statement =
      "SELECT checksum FROM asset_uploads WHERE database_id = $1 AND receipt = $2"
    let claim: Statement =
      "UPDATE asset_uploads SET checksum = $3, size = $4 WHERE database_id = $1 AND receipt = $2"
    let addReceipt: Statement = """
      INSERT INTO asset_uploads (database_id, receipt, user_record_name, expires, checksum, size)
      VALUES ($1, $2, $3, $4, $5, $6)
      """
    let old = """
      SELECT \(OldUpload.columns) FROM asset_uploads WHERE expires <= $1 ORDER BY expires LIMIT $2
      """.except(.everyDatabase)
    let some: Statement = """
      SELECT \(OldUpload.columns) FROM asset_uploads
      WHERE database_id = $1 AND user_record_name = COALESCE($2, user_record_name) LIMIT $3
      """
    let forget: Statement = "DELETE FROM asset_uploads WHERE database_id = $1 AND receipt = $2"
  }
  static let sql = Statements()
}

/// An upload or a receipt that is to be deleted, because it has expired or its user is being
/// deleted.
struct OldUpload: InDatabase {
  static let columns =
    "database_id, receipt, CASE WHEN token_hash IS NULL THEN 1 ELSE 0 END, checksum"

  var database: DatabaseID
  var receipt: String
  /// Whether the row is a receipt for a file that a record held when the receipt was issued.
  var isRereference: Bool
  var checksum: String?

  init(row: any SQLRow) {
    database = row.database(0)
    receipt = row.text(1)
    isRereference = row.integer(2) != 0
    checksum = row.optionalText(3)
  }
}
