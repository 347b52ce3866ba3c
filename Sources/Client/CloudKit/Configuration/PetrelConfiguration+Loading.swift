extension PetrelConfiguration {
  static let fileName = "petrel.json"

  /// What the program's environment and the file in the working directory or above it say. Read
  /// once; a mistake is written to standard error then.
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

  /// The configuration file in `directory` or the nearest directory above it that has one.
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

  private static func deviceID(variables: [String: String]) -> String {
    let directory = URL(
      fileURLWithPath: UserDirectory.configuration.path(variables: variables), isDirectory: true)
    do {
      return try DeviceIdentity.persistent(in: directory)
    } catch {
      warn(
        "the device ID cannot be kept in \(directory.path) (\(error.localizedDescription)); "
          + "this program counts as a new device. Set PETREL_DEVICE to name it")
      return UUID().uuidString
    }
  }

  /// Where the program keeps what outlives a launch.
  var stateFolder: String {
    stateDirectory?.path
      ?? UserDirectory.state.path(variables: ProcessInfo.processInfo.environment)
  }

  static func warn(_ text: String) {
    FileHandle.standardError.write(Data("petrel: \(text)\n".utf8))
  }
}
