import Configuration
import HTTPService
import Settings

/// The check of what a running server does by itself. It asks the server through the socket in the data
/// directory.
struct BackgroundCheck: Sendable {
  let socket: SocketFile

  /// Returns a warning for each job whose last run failed; nothing if no server listens at the socket.
  func findings() async -> [Finding] {
    guard socket.isListenedAt else { return [] }
    do {
      let server = try RemoteAdminAccess(socket: socket)
      let answer = try await server.get("background")
      await server.close()
      let jobs = answer["jobs"]?.array ?? []
      let failing = jobs.filter { $0["lastFailure"] != nil && $0["lastFailure"] == $0["lastRun"] }
      let warnings = failing.map { job in
        let name = job["name"]?.string ?? ""
        return Finding.warning(
          "the last run of '\(name)' failed: \(job["failure"]?.string ?? "")".printable,
          "the server tries again; if it does not recover, read its log")
      }
      return warnings.isEmpty
        ? [.ok("\(jobs.count) jobs run by themselves, and none has failed last")] : warnings
    } catch {
      return [.warning("the server did not list its background work: \(error)", "read its log")]
    }
  }
}
