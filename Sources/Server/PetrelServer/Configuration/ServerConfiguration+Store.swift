import Foundation
import SQLEngine
import Storage
import StoreModel

extension ServerConfiguration {
  /// More connections than that are of no use to a server.
  public static let maximumStoreWriters = 64

  /// A log takes four times as much of the disk, and longer for a start after a crash.
  public static let maximumStoreLogMegabytes = 4_096

  /// Reads `storeWriters`, `storeLogMegabytes`, and `store` or `storeFile`, which has the same in a file, and
  /// `assetDirectory`.
  mutating func applyStore(_ reader: ConfigurationReader) throws(ConfigurationError) {
    storeWriters =
      try reader.int("storeWriters", in: 1...Int64(Self.maximumStoreWriters)) ?? storeWriters
    storeLogMegabytes =
      try reader.int("storeLogMegabytes", in: 1...Int64(Self.maximumStoreLogMegabytes))
      ?? storeLogMegabytes
    if let folder = try reader.string("assetDirectory") { assetDirectory = reader.file(folder) }
    guard let name = try reader.string("storeFile") else {
      if let text = try reader.string("store") {
        postgreSQL = try Self.address(text, reader, "store")
      }
      return
    }
    guard reader.json["store"] == nil else {
      throw reader.mistake("storeFile", "'storeFile' and 'store' exclude each other")
    }
    let file = reader.file(name)
    guard let data = FileManager.default.contents(atPath: file) else {
      throw reader.mistake("storeFile", "'storeFile': \(file) cannot be read")
    }
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    postgreSQL = try Self.address(text, reader, "storeFile")
  }

  private static func address(
    _ text: String, _ reader: ConfigurationReader, _ key: String
  ) throws(ConfigurationError) -> PostgreSQLAddress {
    do {
      return try PostgreSQLAddress(text)
    } catch {
      let reason = (error as? StoreError)?.reason ?? "\(error)"
      throw reader.mistake(key, "'\(key)': \(reason)")
    }
  }
}
