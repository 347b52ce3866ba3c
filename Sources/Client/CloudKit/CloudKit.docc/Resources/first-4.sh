export PETREL_TOKEN=$(petrel users add anna)
export PETREL_SERVER=http://127.0.0.1:8080 PETREL_CONTAINER=iCloud.com.example.Quakes
swift build --product FirstProgram
PETREL_DEVICE=phone .build/debug/FirstProgram &
PETREL_DEVICE=sensor .build/debug/FirstProgram 6.4
