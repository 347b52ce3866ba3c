import Foundation

/// A PostgreSQL server of this program, with its data in a directory of its own. The server ends
/// with the process that started it, however that process ends, and its directory is removed then.
///
/// A client that connects as `petrel` over the socket in the directory has all rights. The server
/// listens on no port. Copies of the value stand for the same server.
public struct HostedPostgreSQL: Sendable {
  /// A failure of PostgreSQL's programs, with their output.
  public struct Failure: Error, CustomStringConvertible {
    /// The action and the output of the programs.
    public var description: String
  }

  /// The directory with the server's data and its socket.
  public let directory: String
  /// The input of the script, which ends when this handle is closed or the process ends.
  private let lifeline: FileHandle
  /// The output of the script: a line `ready` after each step, and errors before it.
  private let output: FileHandle

  /// The shell script that runs beside this process. It starts a server, prints `ready`, carries
  /// out the steps that it reads, and stops the server at the end of its input. PostgreSQL refuses
  /// to run as root, so the script then becomes the user `postgres`.
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

  /// Creates a database cluster and starts a server. It blocks until the server accepts
  /// connections.
  ///
  /// - Parameters:
  ///   - directory: the directory to create. If this process runs as root, the user `postgres` must
  ///     be able to reach it. A path of more than 80 characters is too long for a socket.
  ///   - settings: lines of `postgresql.conf`.
  ///   - hasChecksums: whether the pages of the server's files have checksums.
  ///   - environment: variables of the server's processes. Names and values have no spaces.
  /// - Throws: ``Failure`` with the output of PostgreSQL's programs.
  public init(
    in directory: String, settings: [String], hasChecksums: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    try FileManager.default.createDirectory(
      atPath: (directory as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    // Only this user may reach the socket in it, because every client has all rights.
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
      throw Failure(
        description: "\(directory) cannot be created: \(String(cString: strerror(errno)))")
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
      throw Failure(description: "PostgreSQL did not start: \(said)")
    }
  }

  /// Returns a connection URI for libpq.
  ///
  /// - Parameters:
  ///   - database: the database's name.
  ///   - options: options of the session, such as `-csearch_path=mine`; nil for none.
  public func address(database: String = "postgres", options: String? = nil) -> String {
    let options = options?.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    return "postgres://petrel@/\(database)?host=\(directory)"
      + (options.map { "&options=\($0)" } ?? "")
  }

  /// Stops the server without a checkpoint, as a power failure does. It blocks.
  ///
  /// - Throws: ``Failure`` if the server does not stop.
  public func stop() throws { try step("stop") }

  /// Starts the stopped server, which recovers from its log. It blocks.
  ///
  /// - Throws: ``Failure`` if the server does not start.
  public func startAgain() throws { try step("start") }

  /// Starts the server if it has ended, as a service manager does. It blocks.
  ///
  /// - Returns: whether the server runs.
  @discardableResult
  public func revive() throws -> Bool {
    lifeline.write(Data("revive\n".utf8))
    return Self.read(output, until: "ready\n") == "ready\n"
  }

  /// Stops the server for good and removes its directory. It blocks.
  public func end() {
    try? lifeline.close()
    _ = Self.read(output, until: nil)
  }

  /// Sends a step to the script, and waits for `ready`.
  private func step(_ word: String) throws {
    lifeline.write(Data((word + "\n").utf8))
    let said = Self.read(output, until: "ready\n")
    guard said == "ready\n" else { throw Failure(description: "\(word): \(said)") }
  }

  /// Returns the output up to a text, or up to its end.
  private static func read(_ file: FileHandle, until end: String?) -> String {
    var said = ""
    while end.map({ !said.hasSuffix($0) }) ?? true {
      let data = file.availableData
      if data.isEmpty { break }
      said += String(decoding: data, as: UTF8.self)
    }
    return said
  }

  /// Returns the path of one of PostgreSQL's programs, of the newest installed version; nil if it
  /// is not installed.
  public static func program(_ name: String) -> String? {
    let versions = "/usr/lib/postgresql"
    // Without the folder no version is installed.
    let found = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    return found.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
      .map { "\(versions)/\($0)/bin/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
