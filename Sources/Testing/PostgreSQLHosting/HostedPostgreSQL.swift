import Foundation

/// A PostgreSQL server that this process has started, with its data in a directory of its own. When
/// this process ends, for any reason, the server ends too and its directory is removed.
///
/// A client connects as the user `petrel`, who has all rights, over the socket in the directory.
/// The server listens on no port. Copies of the value stand for the same server.
public struct HostedPostgreSQL: Sendable {
  /// A failure to create the directory, or of PostgreSQL's programs.
  public struct Failure: Error, CustomStringConvertible {
    /// The description: the failed action, with the output of the programs.
    public var description: String
  }

  /// The directory with the server's data and its socket.
  public let directory: String
  /// The standard input of the shell script. The script stops the server when this handle is
  /// closed, or when the process ends.
  private let lifeline: FileHandle
  /// The output of the shell script. After each step it prints the errors, if there are any, and
  /// the line `ready`.
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

  /// Creates a database cluster and starts its server. The initializer blocks its thread until the
  /// server accepts connections.
  ///
  /// - Parameters:
  ///   - directory: the directory to create. If this process runs as root, the user `postgres` must
  ///     be able to reach the directory. Use at most 80 characters, because the path of a socket
  ///     has a limit.
  ///   - settings: lines to add to `postgresql.conf`.
  ///   - hasChecksums: whether the pages of the server's files have checksums.
  ///   - environment: environment variables of the server's processes. Names and values must have
  ///     no spaces.
  /// - Throws: ``Failure`` if the directory cannot be created, or with the output of PostgreSQL's
  ///   programs. An error of Foundation if a folder above the directory cannot be created or the
  ///   shell cannot be started.
  public init(
    in directory: String, settings: [String], hasChecksums: Bool = false,
    environment: [String: String] = [:]
  ) throws {
    try FileManager.default.createDirectory(
      atPath: (directory as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    // Only this user may reach the directory with the socket, because every client has all rights.
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
  /// - Parameter options: options of the session, such as `-csearch_path=mine`; nil for none.
  public func address(database: String = "postgres", options: String? = nil) -> String {
    let options = options?.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
    return "postgres://petrel@/\(database)?host=\(directory)"
      + (options.map { "&options=\($0)" } ?? "")
  }

  /// Stops the server at once, without a checkpoint, as a crash does. The method blocks its thread.
  ///
  /// - Throws: ``Failure`` if the server does not stop.
  public func stop() throws { try step("stop") }

  /// Starts the stopped server, which recovers its data from its write-ahead log. The method blocks
  /// its thread.
  ///
  /// - Throws: ``Failure`` if the server does not start.
  public func startAgain() throws { try step("start") }

  /// Starts the server if it has ended, as a service manager does. The method blocks its thread.
  ///
  /// - Returns: whether the server runs now.
  @discardableResult
  public func revive() throws -> Bool {
    lifeline.write(Data("revive\n".utf8))
    return Self.read(output, until: "ready\n") == "ready\n"
  }

  /// Stops the server and removes its directory. The method blocks its thread. The server cannot be
  /// started again.
  public func end() {
    try? lifeline.close()
    _ = Self.read(output, until: nil)
  }

  /// Sends a step to the script, and waits for the line `ready`.
  private func step(_ word: String) throws {
    lifeline.write(Data((word + "\n").utf8))
    let said = Self.read(output, until: "ready\n")
    guard said == "ready\n" else { throw Failure(description: "\(word): \(said)") }
  }

  /// Reads and returns the output up to `end`. If `end` is nil or does not come, reads up to the
  /// end of the output.
  private static func read(_ file: FileHandle, until end: String?) -> String {
    var said = ""
    while end.map({ !said.hasSuffix($0) }) ?? true {
      let data = file.availableData
      if data.isEmpty { break }
      said += String(decoding: data, as: UTF8.self)
    }
    return said
  }

  /// Returns the path of a program of PostgreSQL, from the newest installed version that has the
  /// program. Nil if no version has it.
  public static func program(_ name: String) -> String? {
    let versions = "/usr/lib/postgresql"
    // If the folder cannot be read, no version is installed.
    let found = (try? FileManager.default.contentsOfDirectory(atPath: versions)) ?? []
    return found.sorted { $0.compare($1, options: .numeric) == .orderedDescending }
      .map { "\(versions)/\($0)/bin/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
