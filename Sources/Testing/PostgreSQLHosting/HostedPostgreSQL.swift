import Foundation

/// A PostgreSQL of a program's own, with its data in a directory that goes away with it. It ends with the
/// process that started it, however that ends.
///
/// Who signs in as `petrel`, over the socket in the directory, may do everything; there is no port.
public struct HostedPostgreSQL: Sendable {
  public struct Failure: Error, CustomStringConvertible {
    public var description: String
  }

  /// Where its data lies, and its socket.
  public let directory: String
  /// What the script reads; it ends when this is closed.
  private let lifeline: FileHandle
  private let output: FileHandle

  /// Starts a server, says so, does what it reads, and stops the server when nobody holds its input any
  /// more. PostgreSQL will not run as root.
  private static let script = """
    set -eu
    if [ "$(id -u)" = 0 ]; then
      chown postgres "$1"
      exec setpriv --reuid=postgres --regid=postgres --init-groups \
        sh -c "$2" sh "$1" "$2" "$3" "$4" "$5"
    fi
    cd "$1"
    PATH=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1):$PATH
    initdb -D "$1/data" -U petrel -A trust -E UTF8 --locale=C --no-sync $4 >"$1/log" 2>&1 ||
      { cat "$1/log"; exit 1; }
    cat >>"$1/data/postgresql.conf" <<END
    listen_addresses = ''
    unix_socket_directories = '$1'
    $3
    END
    start() { env $2 pg_ctl -D "$1/data" -l "$1/log" -w start; }
    start "$1" "$5" >"$1/start" 2>&1 || { cat "$1/log"; exit 1; }
    echo ready
    while read step; do
      case $step in
      stop) pg_ctl -D "$1/data" -m immediate -w stop ;;
      start) start "$1" "$5" ;;
      revive) pg_ctl -D "$1/data" status || start "$1" "$5" ;;
      esac >"$1/$step" 2>&1 || cat "$1/$step"
      echo ready
    done
    pg_ctl -D "$1/data" -m immediate stop >"$1/stop" 2>&1
    cd /
    rm -rf "$1"
    """

  /// Starts one. Blocks until it can be used.
  ///
  /// - Parameters:
  ///   - directory: is made. The way to it must be open to the user `postgres`, who runs the server where
  ///     this process is root's. A path of more than 80 characters is too long for a socket.
  ///   - settings: lines of `postgresql.conf`.
  ///   - hasChecksums: whether pages of its files have checksums.
  ///   - environment: what its processes have in theirs, without spaces.
  /// - Throws: ``Failure`` with what the programs of PostgreSQL said.
  public init(
    in directory: String, settings: [String], hasChecksums: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    try FileManager.default.createDirectory(
      atPath: (directory as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    // Who reaches the socket in it may do everything.
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
      throw Failure(
        description: "\(directory) cannot be made: \(String(cString: strerror(errno)))")
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", Self.script, "sh", directory, Self.script, settings.joined(separator: "\n"),
      hasChecksums ? "--data-checksums" : "",
      environment.map { "\($0)=\($1)" }.joined(separator: " "),
    ]
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    self.directory = directory
    lifeline = input.fileHandleForWriting
    self.output = output.fileHandleForReading
    let said = Self.read(self.output, until: "ready\n")
    guard said.hasSuffix("ready\n") else {
      throw Failure(description: "there is no PostgreSQL: \(said)")
    }
  }

  /// As libpq takes it.
  ///
  /// - Parameters:
  ///   - database: the database's name.
  ///   - options: what the session is set up with, such as `-csearch_path=mine`.
  public func address(database: String = "postgres", options: String? = nil) -> String {
    let options = options?.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    return "postgres://petrel@/\(database)?host=\(directory)"
      + (options.map { "&options=\($0)" } ?? "")
  }

  /// Stops it as when the power fails. Blocks.
  public func stop() throws { try step("stop") }

  /// Starts it again. Blocks.
  public func startAgain() throws { try step("start") }

  /// Starts it if it has ended, as a service manager does. Blocks.
  ///
  /// - Returns: whether it runs.
  @discardableResult
  public func revive() throws -> Bool {
    lifeline.write(Data("revive\n".utf8))
    return Self.read(output, until: "ready\n") == "ready\n"
  }

  /// Stops it for good, and takes its directory away. Blocks.
  public func end() {
    try? lifeline.close()
    _ = Self.read(output, until: nil)
  }

  private func step(_ word: String) throws {
    lifeline.write(Data((word + "\n").utf8))
    let said = Self.read(output, until: "ready\n")
    guard said == "ready\n" else { throw Failure(description: "\(word): \(said)") }
  }

  private static func read(_ file: FileHandle, until end: String?) -> String {
    var said = ""
    while end.map({ !said.hasSuffix($0) }) ?? true {
      let data = file.availableData
      if data.isEmpty { break }
      said += String(decoding: data, as: UTF8.self)
    }
    return said
  }

  /// Where one of PostgreSQL's programs lies on this machine; nil where it does not.
  public static func program(_ name: String) -> String? {
    let versions = "/usr/lib/postgresql"
    // Without the folder no version is installed.
    let found = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    return found.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
      .map { "\(versions)/\($0)/bin/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
