import CloudKit

let container = CKContainer.default()
let database = container.publicCloudDatabase
let earthquake = CKRecord(recordType: "Earthquake")
earthquake["magnitude"] = 6.4
_ = try await database.save(earthquake)
