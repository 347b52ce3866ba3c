import Configuration
import Foundation
import Settings
import Storage

/// The check of the data directory: the server must be able to write its files, and other users
/// must not read them.
struct DirectoryCheck: Sendable {
  let directory: String
  let storePath: String
  let assetsPath: String

  init(_ configuration: ServerConfiguration) {
    directory = URL(fileURLWithPath: configuration.dataDirectory).path
    storePath = URL(fileURLWithPath: configuration.storePath).path
    assetsPath = URL(fileURLWithPath: configuration.assetsPath).path
  }

  func findings() -> [Finding] {
    var information = stat()
    guard stat(directory, &information) == 0 else { return [missing(errno)] }
    guard information.st_mode & S_IFMT == S_IFDIR else {
      return [.problem("\(directory) is not a directory", "name another one with --data")]
    }
    var findings: [Finding] = []
    let owner = Self.name(ofUser: information.st_uid)
    if let trouble = Self.writingTrouble(directory) {
      findings.append(
        .problem(
          "\(directory) cannot be written: \(trouble)",
          "it belongs to \(owner): run the server and this command as that user, or chown -R it"))
    }
    if geteuid() == 0, information.st_uid != 0 {
      findings.append(
        .warning(
          "root has more rights than the server's user, \(owner), so this check can miss problems",
          "sudo -u \(owner) petrel doctor …"))
    }
    findings += files(ownedLike: information.st_uid, owner)
    findings += exposures()
    if !findings.contains(where: { $0.mark == .problem }) {
      findings.insert(.ok("\(directory) can be written"), at: 0)
    }
    return findings
  }

  /// Returns the finding for a data directory that does not exist or cannot be examined.
  ///
  /// - Parameter error: The error number of `stat`.
  private func missing(_ error: Int32) -> Finding {
    guard error == ENOENT else {
      return .problem(
        "\(directory) cannot be examined: \(String(cString: strerror(error)))",
        "run this as the server's user, or name another directory with --data")
    }
    var parent = directory
    repeat {
      parent = AssetFiles.folder(of: parent)
    } while parent.count > 1 && access(parent, F_OK) != 0
    guard let trouble = Self.writingTrouble(parent) else {
      return .ok("\(directory) does not exist yet; the first start creates it")
    }
    // Before the first start this is as it should be under systemd, so it is no problem.
    return .warning(
      "\(directory) does not exist, so no server has started with it yet; this user cannot create "
        + "it in \(parent): \(trouble)",
      "start the server: the systemd unit creates it (StateDirectory); without systemd, "
        + "run install -d -m 700 -o petrel \(directory)")
  }

  /// Returns a problem for each file of the store that the server could not open. Such a file may
  /// come from a command that root ran. If this process runs as root, a file of another owner than
  /// the directory's is a problem. Otherwise a file that this user cannot read and write is a
  /// problem.
  private func files(ownedLike user: uid_t, _ owner: String) -> [Finding] {
    (["", "-wal", "-shm", ".lock", "-assets"].map { storePath + $0 } + [assetsPath]).compactMap {
      file in
      var information = stat()
      guard stat(file, &information) == 0 else { return nil }
      let other = Self.name(ofUser: information.st_uid)
      let advice = "chown \(owner) \(file)"
      if geteuid() == 0 {
        guard information.st_uid != user else { return nil }
        return .problem("\(file) belongs to \(other), the directory to \(owner)", advice)
      }
      guard faccessat(AT_FDCWD, file, R_OK | W_OK, AT_EACCESS) != 0 else { return nil }
      let trouble = String(cString: strerror(errno))
      return .problem("\(file) of \(other) cannot be read and written: \(trouble)", advice)
    }
  }

  /// Returns warnings about files of the store for which other users have permissions, with the
  /// command that removes the permissions. Other checks examine files that the server does not
  /// create, such as its configuration.
  private func exposures() -> [Finding] {
    let folder = AssetFiles.folder(of: storePath)
    let name = (storePath as NSString).lastPathComponent
    // Files in a folder that this user may not list are skipped.
    let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { $0.hasPrefix(name) }.sorted().map { folder + "/" + $0 }
    let store = files.filter(Self.isOpen)
    var findings: [Finding] = []
    if Self.isOpen(directory) || !store.isEmpty {
      let open = (Self.isOpen(directory) ? [directory] : []) + store
      findings.append(
        .warning(
          "\(Self.list(open)): users other than the owner can read the store, with all records "
            + "and password hashes", "chmod go= \(open.joined(separator: " "))"))
    }
    let assets = Set([assetsPath] + files.filter { $0.hasSuffix("-assets") })
    for folder in assets.sorted() {
      let open = Self.openFiles(below: folder)
      guard !open.isEmpty else { continue }
      findings.append(
        .warning(
          "\(Self.list(open)): users other than the owner can read assets", "chmod -R go= \(folder)"
        ))
    }
    return findings
  }

  /// The most entries of an asset folder to check. A store may have millions of assets, and they
  /// are in folders that only their owner may open.
  private static let lookedAtFiles = 10_000

  /// Returns the paths below a folder for which other users have permissions, among the first
  /// ``lookedAtFiles`` entries.
  private static func openFiles(below folder: String) -> [String] {
    guard let names = FileManager.default.enumerator(atPath: folder) else { return [] }
    var open: [String] = []
    for case let name as String in names.prefix(lookedAtFiles) {
      let path = folder + "/" + name
      if isOpen(path) { open.append(path) }
    }
    return open
  }

  /// Returns whether the group or other users have any permission for a file. The result is `false`
  /// for symbolic links and missing files.
  private static func isOpen(_ path: String) -> Bool {
    var information = stat()
    return lstat(path, &information) == 0 && information.st_mode & 0o077 != 0
      && information.st_mode & S_IFMT != S_IFLNK
  }

  private static func list(_ paths: [String]) -> String {
    let named = paths.prefix(3).map { path -> String in
      var information = stat()
      let mode = lstat(path, &information) == 0 ? information.st_mode & 0o777 : 0
      return "\(path) has mode \(String(mode, radix: 8))"
    }
    let rest = paths.count - named.count
    return named.joined(separator: ", ") + (rest > 0 ? ", and \(rest) more are open" : "")
  }

  private static func writingTrouble(_ directory: String) -> String? {
    faccessat(AT_FDCWD, directory, R_OK | W_OK | X_OK, AT_EACCESS) == 0
      ? nil : String(cString: strerror(errno))
  }

  private static func name(ofUser user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "user \(user)"
  }
}
