import Foundation

/// A folder for one test, removed with its end.
func withTemporaryFolder<Result>(
  _ body: (_ path: String) async throws -> Result
) async throws -> Result {
  let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("petrel-operations-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try await body(path)
}
