extension PetrelConfiguration {
  static let fileName = "petrel.json"

  /// The configuration from the environment variables and the nearest configuration file.
  ///
  /// The first use of this constant reads them. The result does not change afterwards. If they are
  /// not valid, the reason is also written to standard error.
  static let ambient: Result<PetrelConfiguration, CKError> = {
    do throws(CKError) {
      return .success(try load())
    } catch {
      warn(error.localizedDescription)
      return .failure(error)
    }
  }()

  private static func load() throws(CKError) -> PetrelConfiguration {
    let variables = ProcessInfo.processInfo.environment
    let directory = URL(
      fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
    return try PetrelConfiguration(variables: variables, file: try nearestFile(to: directory)) {
      deviceID(variables: variables)
    }
  }

  /// Returns the configuration file in `directory` or in the nearest directory above it; `nil` when
  /// there is none.
  ///
  /// - Throws: `badContainer` when a file exists but cannot be read.
  static func nearestFile(to directory: URL) throws(CKError) -> File? {
    var directory = directory.standardizedFileURL
    while true {
      let candidate = directory.appendingPathComponent(fileName)
      if FileManager.default.fileExists(atPath: candidate.path) {
        do {
          return File(path: candidate.path, content: try Data(contentsOf: candidate))
        } catch {
          throw CKError(
            .badContainer, "\(candidate.path) cannot be read: \(error.localizedDescription)")
        }
      }
      let parent = directory.deletingLastPathComponent().standardizedFileURL
      guard parent.path != directory.path, directory.path != "/" else { return nil }
      directory = parent
    }
  }

  /// Returns the ID of this installation from the user's configuration directory.
  ///
  /// If the ID cannot be saved there, the method returns a new ID for this launch and writes a
  /// warning to standard error.
  private static func deviceID(variables: [String: String]) -> String {
    let directory = URL(
      fileURLWithPath: UserDirectory.configuration.path(variables: variables), isDirectory: true)
    do {
      return try DeviceIdentity.persistent(in: directory)
    } catch {
      warn(
        "the device ID cannot be saved in \(directory.path) (\(error.localizedDescription)); "
          + "the server sees each launch as a new device. Set PETREL_DEVICE to a fixed ID")
      return UUID().uuidString
    }
  }

  /// The path of the folder for data that outlives a launch: long-lived operations and web auth
  /// tokens.
  var stateFolder: String {
    stateDirectory?.path
      ?? UserDirectory.state.path(variables: ProcessInfo.processInfo.environment)
  }

  /// Writes a line to standard error, beginning with `petrel: `. A line that cannot be written is
  /// lost; `FileHandle` would end the app.
  static func warn(_ text: String) {
    Array("petrel: \(text)\n".utf8).withUnsafeBytes {
      _ = write(STDERR_FILENO, $0.baseAddress, $0.count)
    }
  }
}
